import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/build.ts'
import { COMMANDS, namesOf, NOUNS } from '../../src/cli/program.ts'
import { GROUPS } from '../../src/cli/program/spec.ts'

const WIDTH = 80

const program = buildProgram({ code: 0 }, [], false)

/** What `--help` prints in a terminal of 80 columns. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => WIDTH })
  command.outputHelp()
  return text
}

function find(name: string): Command {
  return name.split(' ').reduce((above, word) => {
    const found = above.commands.find((command) => command.name() === word)
    return found ?? assert.fail(`no command ${name}`)
  }, program)
}

const names = COMMANDS.flatMap(namesOf)
const nouns = NOUNS.map(({ name }) => name)
const old = [...COMMANDS.flatMap((spec) => spec.old ?? []), ...NOUNS.map(({ plural }) => plural)]

test('the help has its groups in order and fits 80 columns', () => {
  const help = helpOf(program)
  const found = [...help.matchAll(/^(.+):$/gm)].map(([, title]) => title)
  assert.deepEqual(found.slice(1, -1), GROUPS)
  for (const line of help.split('\n')) assert.ok(line.length <= WIDTH, line)
})

for (const spec of COMMANDS) {
  test(`corral ${spec.name} says what it does, when to use it, and ends with an example`, () => {
    const help = helpOf(find(spec.name))
    const flat = help.replaceAll(/\s+/g, ' ')
    assert.ok(flat.includes(`${spec.summary}.`) && flat.includes(spec.use), help)
    assert.match(spec.summary, /^[A-Z].*[^.]$/)
    assert.match(spec.use, /^Use it .*\.$/)
    assert.match(help, /\nExamples?:\n( {2}\$ .*\n)+$/)
    for (const example of spec.examples) assert.match(example, new RegExp(`\\bcorral ${spec.name}\\b`))
    for (const line of help.split('\n')) assert.ok(line.length <= WIDTH, line)
  })
}

test('every noun has ls, or show where there is only one, or status where that one runs', () => {
  for (const noun of nouns) {
    assert.ok(
      ['ls', 'show', 'status'].some((verb) => names.includes(`${noun} ${verb}`)),
      noun,
    )
    const help = helpOf(find(noun))
    assert.match(help, new RegExp(`^Usage: corral ${noun} <verb> `))
    for (const line of help.split('\n')) assert.ok(line.length <= WIDTH, line)
  }
})

test('no help shows an old spelling', () => {
  const visible = [program, ...nouns.map(find)].flatMap((command) =>
    command
      .createHelp()
      .visibleCommands(command)
      .map((one) => (command === program ? one.name() : `${command.name()} ${one.name()}`)),
  )
  assert.deepEqual(visible.toSorted(), [...names, ...nouns].toSorted())
  for (const name of old) assert.ok(!visible.includes(name), name)
})

/** The commands that a page names, each with the word behind it. */
function commandsIn(text: string): [string, string][] {
  const code = [...text.matchAll(/`[^`\n]+`|^ {4}.*$|<code>[^<]+<\/code>/gm)]
    .map(([found]) => found)
    .join('\n')
  const found = code.matchAll(/(?:^|[\s`$(|>])corral ([a-z][a-z-]*)(?: ([a-z][a-z-]*)(?![\w./]))?/gm)
  return [...found].map(([, first = '', second = '']) => [first, second])
}

const root = join(import.meta.dirname, '../..')
const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)]

for (const page of pages.filter((name) => name.endsWith('.md'))) {
  test(`${page} has no command that does not exist, and none by an old name`, () => {
    for (const [first, second] of commandsIn(readFileSync(join(root, page), 'utf8'))) {
      const known = nouns.includes(first)
        ? second === '' || names.includes(`${first} ${second}`)
        : names.includes(first)
      assert.ok(known, `corral ${first} ${second}`)
    }
  })
}
