/*
 * Programs that run what their words say. Whatever is not here keeps to itself what it runs.
 */

/** They run the command that follows, and how many words of their own come before it, options aside. */
const WRAPPERS: ReadonlyMap<string, number> = new Map([
  ...names(
    0,
    'command builtin exec env sudo doas nohup time nice ionice setsid stdbuf unbuffer busybox toybox caffeinate strace ltrace',
  ),
  ...names(
    0,
    'noglob nocorrect - fakeroot systemd-run systemd-inhibit unshare nsenter xvfb-run xargs parallel',
  ),
  ...names(1, 'timeout gtimeout flock chroot taskset chrt setarch ssh'),
  ...names(0, 'watch eval'),
])

/** What follows is put together and read by a shell once more. */
const READ_AGAIN: ReadonlySet<string> = new Set(['eval', 'watch', 'ssh'])

/** They add words to the command that nobody sees. */
const ADDING: ReadonlySet<string> = new Set(['xargs', 'parallel'])

const SHELLS: ReadonlySet<string> = new Set(
  'sh bash zsh dash ash ksh mksh rbash fish csh tcsh pwsh powershell'.split(' '),
)

/** They take a line for a shell after `-c`. */
const TAKING_LINES: ReadonlySet<string> = new Set('su runuser script flock sg newgrp npx'.split(' '))

/** They take a program in another language among their words. */
const INTERPRETERS = /^(?:python|perl|ruby|node|deno|bun|php|lua|awk|gawk|mawk|osascript|tclsh|expect)[\d.]*$/

function names(own: number, list: string): [string, number][] {
  return list.split(' ').map((name) => [name, own])
}

export function wrapperWords(program: string): number | null {
  return WRAPPERS.get(program) ?? null
}

export const readsAgain = (program: string): boolean => READ_AGAIN.has(program)
export const addsWords = (program: string): boolean => ADDING.has(program)
export const isShell = (program: string): boolean => SHELLS.has(program)
export const takesLines = (program: string): boolean => TAKING_LINES.has(program)
export const isInterpreter = (program: string): boolean => INTERPRETERS.test(program)
