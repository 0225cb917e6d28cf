import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface FakeKeychain {
  env: NodeJS.ProcessEnv
  /** All arguments that were ever given. */
  argv(): string
  stdin(): string
  /** Names of what is in it. */
  items(): string[]
  lock(): void
  unlock(): void
}

/** `secret-tool` and `security` as far as they are used, each item a file; they write down what they are told. */
export function fakeKeychain(dir: string): FakeKeychain {
  const bin = join(dir, 'bin')
  const store = join(dir, 'keychain')
  for (const path of [bin, store]) mkdirSync(path, { recursive: true })
  for (const name of ['secret-tool', 'security']) {
    writeFileSync(join(bin, name), `#!/bin/sh${PROGRAM}`, { mode: 0o755 })
  }
  const text = (name: string): string =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8') : ''
  const locked = join(dir, 'locked')
  return {
    env: { PATH: bin, FAKE_KEYCHAIN: dir },
    argv: () => text('argv'),
    stdin: () => text('stdin'),
    items: () => readdirSync(store),
    lock: () => writeFileSync(locked, ''),
    unlock: () => rmSync(locked),
  }
}

const PROGRAM = `
PATH=/usr/bin:/bin
set -f
dir=$FAKE_KEYCHAIN
case $0 in
  *security) service=-s account=-a locked=36 missing=44 end='\\n' ;;
  *) service=service account=account locked=1 missing=1 end= ;;
esac
fail() { printf %s "$2" >&2; exit "$1"; }
after() { # FLAG WORDS...
  flag=$1
  while [ $# -gt 1 ]; do shift; [ "$1" = "$flag" ] && echo "$2" && return; done
}
file() { echo "$dir/keychain/$(after $service "$@") $(after $account "$@")"; }
found() { [ -f "$item" ] && return; [ $missing = 1 ] && exit 1; fail $missing 'could not be found'; }

printf '%s\\n' "$*" >> "$dir/argv"
input=$(cat)
printf '%s\\n' "$input" >> "$dir/stdin"
[ -f "$dir/locked" ] && fail $locked 'it is locked'
item=$(file "$@")
case $1 in
  store) printf %s "$input" | head -c 8192 > "$item" ;;
  lookup | find-generic-password) found && cat "$item" && printf "$end" ;;
  clear | delete-generic-password) found && rm "$item" ;;
  -i)
    [ \${#input} -gt 4096 ] && fail 1 'line too long'
    printf %s "$(after -w $input)" > "$(file $input)" ;;
  *) fail 2 usage ;;
esac
`
