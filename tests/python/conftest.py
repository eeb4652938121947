import tenon


def pytest_report_header(config):
    return f"tenon from {tenon.__file__}"
