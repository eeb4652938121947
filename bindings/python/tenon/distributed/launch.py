"""The older name of tenon.distributed.run. The rank is in the environment (LOCAL_RANK), never an argument."""

from tenon.distributed.run import main

if __name__ == "__main__":
    main(prog="python -m tenon.distributed.launch")
