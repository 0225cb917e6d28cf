"""Runs a command in a pseudo-terminal. What it prints goes to stdout, stdin is what is typed.

Lines on file descriptor 3 do something to it: `size COLUMNS ROWS`, `kill SIGNAL`.
Usage: in-terminal.py COLUMNS ROWS COMMAND...
"""
import fcntl, os, pty, select, signal, struct, sys, termios


def resize(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def control(line, terminal, pid):
    words = line.split()
    if words[:1] == ["size"]:
        resize(terminal, int(words[1]), int(words[2]))
    elif words[:1] == ["kill"]:
        os.kill(pid, getattr(signal, "SIG" + words[1]))


def relay(terminal, pid):
    inputs = [0, 3, terminal]
    held = b""
    while True:
        ready, _, _ = select.select(inputs, [], [])
        for source in ready:
            try:
                data = os.read(source, 65536)
            except OSError:
                data = b""
            if source == terminal and not data:
                return
            if not data:
                inputs.remove(source)
            elif source == terminal:
                os.write(1, data)
            elif source == 0:
                os.write(terminal, data)
            else:
                *lines, held = (held + data).split(b"\n")
                for line in lines:
                    control(line.decode(), terminal, pid)


pid, terminal = pty.fork()
if pid == 0:
    os.close(3)
    # The size is there before the program looks.
    resize(0, int(sys.argv[1]), int(sys.argv[2]))
    os.execvp(sys.argv[3], sys.argv[3:])
relay(terminal, pid)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
