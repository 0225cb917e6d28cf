import type { CommandSpec, NounSpec, OptionSpec } from './spec.ts'

const backup = () => import('../commands/backup.ts')
const service = () => import('../commands/service.ts')

const MANAGER: OptionSpec = ['--manager <manager>', 'systemd or launchd, if not the one of this system']

const BACKUP_OPTIONS: readonly OptionSpec[] = [
  ['--with-secrets', 'also tokens, keys and accounts'],
  ['--force', 'replace a file that is there already'],
]

export const LIFE_NOUNS: readonly NounSpec[] = [
  {
    name: 'backup',
    plural: 'backups',
    group: 'Daemon',
    summary: 'Keep everything in one file, or bring it back',
    bare: { args: '<file>', options: BACKUP_OPTIONS, load: async () => (await backup()).add },
  },
  {
    name: 'service',
    plural: 'services',
    group: 'Daemon',
    summary: 'Have the system start the daemon, and restart it',
    bare: { args: '', options: [MANAGER], load: async () => (await service()).status },
  },
]

export const LIFE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'logs',
    group: 'Daemon',
    args: '',
    summary: "Show the daemon's own log",
    use: 'Use it to see what the daemon has noted about itself: starts, stops, warnings and faults. What you and your agents say is never in it. It needs no daemon.',
    examples: ['corral logs', 'corral logs -f -n 5'],
    options: [
      ['-f, --follow', 'go on with every line as it is written'],
      ['-n, --lines <count>', 'how many lines (50), also from older files'],
    ],
    load: async () => (await import('../commands/logs.ts')).logs,
  },
  {
    name: 'backup add',
    args: '<file>',
    summary: 'Write everything that Corral keeps into one file; `corral backup FILE` is short for it',
    use: 'Use it before you try something, or to move to another machine. The daemon may be running, and nobody has to wait. Work in git worktrees is not in it.',
    examples: ['corral backup add corral.tgz', 'corral backup add --with-secrets corral.tgz'],
    options: BACKUP_OPTIONS,
    load: async () => (await backup()).add,
  },
  {
    name: 'backup show',
    args: '<file>',
    summary: 'Show what is in a backup, and check all of it',
    use: 'Use it to find out whether a backup can be relied on. It reads the whole file and changes nothing.',
    examples: ['corral backup show corral.tgz'],
    load: async () => (await backup()).show,
  },
  {
    name: 'backup restore',
    args: '<file>',
    summary: 'Bring a backup back into the data directory; `corral restore FILE` does the same',
    use: 'Use it while no daemon is running, here or on another machine. Nothing is deleted: with --force, what is there is put aside.',
    examples: ['corral backup restore corral.tgz'],
    options: [['--force', 'also if there is data already: it is put aside']],
    load: async () => (await backup()).restore,
  },
  {
    name: 'service install',
    args: '',
    summary: 'Have systemd or launchd run the daemon, now and from now on',
    use: 'Use it once, instead of `corral start`. Use it again after you have installed another Node.js or changed your PATH. Agents outlive a restart of the service.',
    examples: ['corral service install', 'corral service install --print'],
    options: [['--print', 'print the file of the service, and change nothing'], MANAGER],
    load: async () => (await service()).install,
  },
  {
    name: 'service status',
    args: '',
    summary: 'Show whether the service is installed and runs',
    use: 'Use it to see what the system knows about the daemon. It ends with exit code 3 if the service does not run.',
    examples: ['corral service status'],
    options: [MANAGER],
    load: async () => (await service()).status,
  },
  {
    name: 'service uninstall',
    args: '',
    summary: 'Stop the service and remove it; your data stays',
    use: 'Use it to start the daemon yourself again. It removes only a file that Corral has written.',
    examples: ['corral service uninstall'],
    options: [MANAGER],
    load: async () => (await service()).uninstall,
  },
  {
    name: 'upgrade',
    group: 'Daemon',
    args: '',
    summary: 'Install the newest Corral, if it is signed; running turns go on',
    use: 'Use it if you have set `updates.feed` and `updates.publicKey`. It checks the signature and the checksum, has npm install the package, and restarts the daemon.',
    examples: ['corral upgrade --check', 'corral upgrade'],
    options: [
      ['--check', 'only say whether there is a newer one'],
      ['--no-restart', 'leave the daemon as it is until its next start'],
    ],
    load: async () => (await import('../commands/upgrade.ts')).upgrade,
  },
  {
    name: 'uninstall',
    group: 'Daemon',
    args: '',
    summary: 'Show what Corral has made on this machine, and remove it',
    use: 'Use it before you remove the program. Without --yes it only shows what would go, with sizes. It never touches a file that Corral has not made.',
    examples: ['corral uninstall', 'corral uninstall --yes'],
    options: [['--yes', 'do it: stop the daemon, remove the service and all data']],
    load: async () => (await import('../commands/uninstall.ts')).uninstall,
  },
]
