/*
 * Programs that run what their words say. Whatever is not here keeps to itself what it runs.
 */

/** They run the command that follows, and how many words of their own come before it, options aside. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ...names(
    0,
    `command builtin exec env sudo doas nohup time nice ionice setsid stdbuf unbuffer busybox toybox caffeinate strace
    ltrace noglob nocorrect - { fakeroot systemd-run systemd-inhibit unshare nsenter xvfb-run xargs watch eval setpriv choom
    prlimit numactl uclampset ssh-agent dbus-run-session firejail proot torsocks torify proxychains proxychains4 eatmydata
    rlwrap daemonize chronic pkexec run0 tini dumb-init valgrind linux32 linux64 i386 i486 i586 i686 x86_64 uname26
    cross-env dotenv entr corepack ifne runcon flatpak-spawn sshpass and or not`,
  ),
  ...names(1, 'timeout gtimeout flock chroot taskset chrt setarch ssh repeat gosu su-exec faketime'),
])

/** What follows is put together and read by a shell once more. */
const READ_AGAIN: ReadonlySet<string> = wordsIn('eval watch ssh')

/** Anything behind their name may be a command. */
const STARTERS: ReadonlySet<string> = wordsIn(
  `npx bunx concurrently nodemon watchexec chokidar wait-on wait-for-it wait-for-it.sh dockerize retry pm2 pueue tsp wsl winpty
  xcrun arch mosh autossh lima orb bwrap capsh sandbox-exec libtool launchctl reattach-to-user-namespace dbus-launch envchain
  arch-chroot catatonit with-contenv setuidgid s6-setuidgid chpst tox nox`,
)

/** Options that certainly take the next word. Of the others it is not known. */
const TAKING_A_WORD: ReadonlyMap<string, RegExp> = new Map([
  ['git', /^(?:-[Cc]|--git-dir|--work-tree|--namespace|--config-env)$/],
  ['sudo', /^-[ugpCDRrtTU]$/],
  ['env', /^-[uC]$/],
  ['nice', /^-n$/],
  ['timeout', /^-[ks]$/],
  ['xargs', /^-[IadELnPs]$/],
  ['npm', /^(?:-C|--prefix|-w|--workspace)$/],
  ['kubectl', /^(?:-n|--namespace|--context)$/],
])

/** After such a word anything that follows may be a command: `docker exec -it web git push`. */
const RUNNERS: ReadonlyMap<string, RegExp> = new Map([
  ...[
    ...wordsIn(
      'docker podman nerdctl kubectl docker-compose npm pnpm yarn bun uv poetry pipenv pdm hatch rye',
    ),
  ].map((name) => [name, /^(?:run|exec|x|dlx)$/] as const),
  ...[
    ...wordsIn(
      'conda mamba bundle mise asdf rbenv pyenv direnv op doppler aws-vault devbox pixi perf tmux screen',
    ),
  ].map((name) => [name, /^(?:run|exec|x|stat|record|new|new-session|new-window|send-keys|-\w+)$/] as const),
  ...[
    ...wordsIn(
      `lxc incus vagrant toolbox distrobox heroku gcloud fly flyctl railway vercel minikube colima multipass limactl oc crictl
      ctr micromamba zellij dotenvx infisical chamber sops`,
    ),
  ].map((name) => [name, /^(?:run|exec|exec-env|shell|ssh|enter|rsh)$/] as const),
  ['ansible', /^(?:-a|--args)$/],
  ['lxc-attach', /^-/],
  ['nix', /^(?:-c|--command)$/],
  ['nix-shell', /^--(?:run|command)$/],
  ['start-stop-daemon', /^-/],
  ['fd', /^(?:-[xX]|--exec|--exec-batch)$/],
  ['fdfind', /^(?:-[xX]|--exec|--exec-batch)$/],
  ['git', /^(?:foreach|run|-x|--exec|--extcmd|--\w+-(?:filter|pack)|--open-files-in-pager)$/],
])

const SHELLS: ReadonlySet<string> = wordsIn(
  'sh bash zsh dash ash ksh ksh93 mksh lksh yash posh rbash rzsh osh fish csh tcsh',
)

/** They take a line for a shell after `-c`. */
const TAKING_LINES: ReadonlySet<string> = wordsIn('su runuser script flock sg newgrp npx emulate')

/** Without a command they start a shell, which reads what they are given. */
const STARTING_SHELLS: ReadonlySet<string> = wordsIn(
  'su runuser script sg newgrp ssh chroot unshare nsenter fakeroot',
)

/** Builtins and others that run some of their words: on a signal, for each line, to complete a word, to measure them. */
const KEEPING_LINES: ReadonlySet<string> = wordsIn(
  'trap mapfile readarray compgen complete bind sched zpty print hyperfine pee mispipe',
)

/** Builtins that give names another meaning, or take one away. */
const NAMING: ReadonlySet<string> = wordsIn('alias hash enable autoload')

/** Builtins that set variables of the shell: what comes after them may be another program than it seems. */
const SETTING: ReadonlySet<string> = wordsIn(
  'export declare typeset local readonly integer float read mapfile readarray getopts let unset alias hash enable vared',
)

/** They take a program in another language among their words. */
const INTERPRETERS =
  /^(?:python|pypy|ipython|perl|ruby|node|nodejs|tsx|ts-node|deno|bun|php|lua|awk|gawk|mawk|osascript|tclsh|expect|julia|rscript|elixir|iex|groovy|scala|swift|guile|racket|raku|bb|nu|xonsh|elvish|pwsh|powershell|cmd|make|gmake|tar|rsync|vi|vim|nvim|ex|ed|emacs|gdb|at|batch|crontab|tmux|screen|parallel)[\d.]*$/

function wordsIn(list: string): Set<string> {
  return new Set(list.split(/\s+/))
}

function names(own: number, list: string): [string, number][] {
  return [...wordsIn(list)].map((name) => [name, own])
}

export function wrapperWords(program: string): number | null {
  return WRAPPERS.get(program) ?? null
}

/** Whether an option takes the next word: no one knows (null) but for some. */
export function takesWord(program: string, option: string): boolean | null {
  if (option.startsWith('--') && option.includes('=')) return false
  if (program === 'xargs' && /^-[IadELnPs]./.test(option)) return false
  return TAKING_A_WORD.get(program)?.test(option) ? true : null
}

/** Where the words begin that a program may run. */
export function runFrom(program: string, words: readonly string[]): number | null {
  if (STARTERS.has(program)) return 1
  const verb = RUNNERS.get(program)
  const at = verb ? words.findIndex((word) => verb.test(word)) : -1
  return at < 0 ? null : at + 1
}

/** Whether a command changes what names stand for in the commands after it. */
export function setsNames(words: readonly string[]): boolean {
  const [program = '', ...rest] = words
  const has = (option: RegExp): boolean => rest.some((word) => option.test(word))
  switch (program) {
    case 'printf':
      // `%n` sets the variable that its word names.
      return has(/^-v/) || has(/%[^a-zA-Z%]*n/)
    case 'print':
      return has(/^-\w*v/)
    case 'set':
      return has(/^[-+]\w*A/)
    case 'wait':
      return has(/^-\w*p/)
    default:
      return SETTING.has(program)
  }
}

export const readsAgain = (program: string): boolean => READ_AGAIN.has(program)
export const isShell = (program: string): boolean => SHELLS.has(program)
export const takesLines = (program: string): boolean => TAKING_LINES.has(program)
export const startsShell = (program: string): boolean => STARTING_SHELLS.has(program)
export const keepsLines = (program: string): boolean => KEEPING_LINES.has(program)
export const givesNames = (program: string): boolean => NAMING.has(program)
export const isInterpreter = (program: string): boolean => INTERPRETERS.test(program)
