import type { CommandSpec, OptionSpec } from './spec.ts'

const daemon = () => import('../commands/daemon.ts')

const LISTEN: readonly OptionSpec[] = [
  ['--port <port>', "Corral's own port (CORRAL_PORT or 2677); 0 takes any free port"],
  ['--codecast-port <port>', 'the port for Codecast clients; 0 takes any free port'],
]

export const DAEMON_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'start',
    group: 'Daemon',
    args: '',
    summary: 'Start the daemon',
    use: 'Use it to choose when and how the daemon runs: it runs the agents, and the other commands talk to it. `corral new` and a few others start it by themselves. It stays in the foreground unless you give --detach.',
    examples: ['corral start --detach'],
    options: [
      ...LISTEN,
      ['-d, --detach', 'run in the background and write a log file'],
      ['--keep-agents', 'when a signal stops it, leave agents running for the next daemon'],
    ],
    load: async () => (await import('../commands/start.ts')).start,
  },
  {
    name: 'stop',
    group: 'Daemon',
    args: '',
    summary: 'Stop the daemon',
    use: 'Use it to end the daemon and its agents. Running turns get some time to end (setting stop.graceMs). Sessions stay, and go on with the next daemon.',
    examples: ['corral stop', 'corral stop --now'],
    options: [
      ['--now', 'interrupt running turns at once'],
      ['--keep-agents', 'leave agents running; the next daemon takes them over'],
    ],
    load: async () => (await daemon()).stop,
  },
  {
    name: 'restart',
    group: 'Daemon',
    args: '',
    summary: 'Restart the daemon in the background; running turns go on',
    use: 'Use it after you have changed the configuration or installed a new version.',
    examples: ['corral restart'],
    options: LISTEN,
    load: async () => (await daemon()).restart,
  },
  {
    name: 'status',
    group: 'Daemon',
    args: '',
    summary: 'Show whether the daemon runs, and where it listens',
    use: 'Use it to find the addresses for clients. It ends with exit code 3 if no daemon is running.',
    examples: ['corral status'],
    load: async () => (await daemon()).status,
  },
  {
    name: 'top',
    group: 'Daemon',
    args: '',
    summary: 'Show how much memory the daemon and each agent use',
    use: 'Use it when the machine is short of memory. Each agent is counted with the processes it has started.',
    examples: ['corral top'],
    load: async () => (await import('../commands/top.ts')).top,
  },
  {
    name: 'doctor',
    group: 'Daemon',
    args: '',
    summary: 'Check the installation and say how to fix what is wrong',
    use: 'Use it when something does not work. It needs no daemon and changes nothing.',
    examples: ['corral doctor'],
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    group: 'Daemon',
    args: '<shell>',
    summary: 'Print the completion script for bash, zsh or fish',
    use: 'Use it in the startup file of your shell. It completes commands, options and ids.',
    examples: ['source <(corral completion bash)', 'corral completion fish | source'],
    load: async () => (await import('../commands/completion.ts')).completion,
  },
]

export const PROTOCOL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'acp',
    group: 'Protocols',
    args: '',
    summary: 'Serve the Agent Client Protocol on stdin and stdout',
    use: 'Use it as the agent command of an editor such as Zed: the editor then opens, prompts and approves sessions of Corral.',
    examples: ['corral acp --start --agent claude'],
    options: [
      ['--start', 'start a daemon in the background if none is running'],
      ['--agent <agent>', 'the agent of new sessions (claude if it is installed, otherwise demo)'],
      ['--mode <mode>', 'the mode of new sessions: auto, code, plan or ask'],
      ['--model <model>', 'the model of new sessions'],
    ],
    load: async () => (await import('../commands/acp.ts')).acp,
  },
  {
    name: 'mcp',
    group: 'Protocols',
    args: '<server>',
    summary: 'Serve MCP on stdin and stdout, so that any agent can ask you',
    use: 'Use it as an MCP server of an agent that runs outside of Corral. The only server is `approvals`: its questions appear in `corral approval ls`.',
    examples: ['corral mcp approvals'],
    options: [['--session <session>', 'ask in this session (CORRAL_SESSION_ID) instead of a new one']],
    load: async () => (await import('../commands/mcp.ts')).mcp,
  },
  {
    name: 'rpc',
    group: 'Protocols',
    args: '',
    summary: 'Serve the loaf protocol on stdin and stdout',
    use: 'Use it as the server command of a loaf client. It uses the running daemon, or runs one of its own while no other does.',
    examples: ['corral rpc'],
    options: [['--standalone', 'always run an own daemon on the same data; fails if another one is running']],
    load: async () => (await import('../commands/rpc.ts')).rpc,
  },
]
