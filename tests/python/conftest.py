import pytest
import tenon


def pytest_report_header(config):
    return f"tenon from {tenon.__file__}"


def libraries():
    try:
        import torch
    except ImportError:
        return [tenon]
    return [tenon, torch]


@pytest.fixture(params=libraries(), ids=lambda library: library.__name__)
def lib(request):
    """Tenon, and PyTorch where it is: what is tested is what both do."""
    return request.param
