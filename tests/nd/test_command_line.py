"""Every command of a shell ends alike: Ctrl-C, errors, a wrong usage."""

import importlib

import pytest

import nd

COMMANDS = {
    "nn.cli": ("nn.cli.summary", ["summary", "x.zip"]),
    "nn.caffe": ("nn.caffe.command_line", ["convert", "a", "b"]),
}


@pytest.fixture(params=COMMANDS)
def command(request, monkeypatch):
    """Return what runs a command that raises, given the error."""
    home, arguments = COMMANDS[request.param]
    module = importlib.import_module(home)
    main = importlib.import_module("nn.cli" if request.param == "nn.cli" else home).main

    def run(error):
        def fail(_):
            raise error

        monkeypatch.setattr(module, "run" if request.param == "nn.cli" else "convert", fail)
        return main(arguments)

    return run


def test_ctrl_c(command, capsys):
    assert command(KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_an_error_is_one_line(command, capsys):
    assert command(nd.FormatError("a b:\n must be c.")) == 1
    assert capsys.readouterr().err == "error: a b: must be c.\n"
    assert command(FileNotFoundError(2, "No such file", "x.zip")) == 1
    assert capsys.readouterr().err == "error: x.zip: No such file\n"
