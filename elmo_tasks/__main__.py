"""`python -m elmo_tasks COMMAND ...`."""

from elmo_tasks.cli.main import main

if __name__ == "__main__":
    main()
