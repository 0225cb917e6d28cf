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
    writeFileSync(join(bin, name), `#!${process.execPath}\n${PROGRAM}`, { mode: 0o755 })
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
const fs = require('node:fs')
const dir = process.env.FAKE_KEYCHAIN
const [command, ...rest] = process.argv.slice(2)
const apple = process.argv[1].endsWith('security')
fs.appendFileSync(dir + '/argv', process.argv.slice(2).join(' ') + '\\n')
const input = fs.readFileSync(0, 'utf8')
fs.appendFileSync(dir + '/stdin', input)
function fail(code, text) { process.stderr.write(text); process.exit(code) }
if (fs.existsSync(dir + '/locked')) fail(apple ? 36 : 1, 'it is locked')
const after = (list, flag) => list[list.indexOf(flag) + 1]
const file = (list) => dir + '/keychain/' + (apple ? after(list, '-s') + ' ' + after(list, '-a') : after(list, 'service') + ' ' + after(list, 'account'))
const exists = () => fs.existsSync(file(rest))
if (command === 'store') fs.writeFileSync(file(rest), input.slice(0, 8192))
else if (command === 'lookup') exists() ? process.stdout.write(fs.readFileSync(file(rest))) : process.exit(1)
else if (command === 'clear') exists() ? fs.rmSync(file(rest)) : process.exit(1)
else if (command === 'find-generic-password') exists() ? process.stdout.write(fs.readFileSync(file(rest), 'utf8') + '\\n') : fail(44, 'could not be found')
else if (command === 'delete-generic-password') exists() ? fs.rmSync(file(rest)) : fail(44, 'could not be found')
else if (command === '-i') for (const line of input.trim().split('\\n')) {
  if (line.length > 4096) fail(1, 'line too long')
  const words = line.split(' ')
  fs.writeFileSync(file(words), after(words, '-w'))
} else fail(2, 'usage')
`
