import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, test, type TestContext } from 'node:test'
import { checkCorral } from './corral-words.ts'
import { FOLLOWED, GOES_ON, NOT_RUN, OTHER_CODES } from './exceptions.ts'
import { allBlocks, type Block, type Command, commandsIn, PAGES, ROOT, textOf } from './extract.ts'
import { makeWorld, type World } from './world.ts'

/*
 * Every command in the documentation is run, page by page, in the order of the page. Ids and ports of examples stand for real ones
 * (`world.ts`); what cannot be run here is in `exceptions.ts`.
 */

const blocks = allBlocks().map((block) => ({ block, commands: commandsIn(block) }))
const byPage = Map.groupBy(
  blocks.filter(({ commands }) => commands.length > 0),
  ({ block }) => block.page,
)

const reasonFor = ({ text }: Command): string | null =>
  NOT_RUN.find(({ command }) => command.test(text))?.why ?? null

/** A program that this machine does not have. */
function missingIn({ text }: Command): string | null {
  const [name = ''] = /^(curl|nc|openssl)\b/.exec(text) ?? []
  return name !== '' && name !== 'nc' && spawnSync(name, ['--version']).error
    ? `${name} is not installed here`
    : null
}

// One for all pages: a daemon and an empty home take longer than most commands.
let world: World
before(() => void (world = makeWorld()))
after(() => world.end())

for (const [page, parts] of byPage) {
  test(`the commands of ${page} work`, async (t) => {
    const followed = FOLLOWED[page]
    if (followed !== undefined) return t.diagnostic(`not run here: ${followed} follows it`)
    for (const { block, commands } of parts) await runBlock(t, block, commands)
  })
}

/** Not typed, but written into a file. */
function isFile({ text }: Block): boolean {
  return text.startsWith('#!')
}

async function runBlock(t: TestContext, block: Block, commands: Command[]): Promise<void> {
  if (isFile(block)) {
    const { status, stderr } = spawnSync('sh', ['-n'], { input: block.text, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    return t.diagnostic(`${block.page}:${block.line} is a file: only its grammar is looked at`)
  }
  const run = commands.filter((command) => {
    const why = reasonFor(command) ?? missingIn(command)
    if (why !== null) t.diagnostic(`not run: ${command.text.split('\n')[0]} (${why})`)
    return why === null
  })
  // What a block of a shell sets is there for its next lines.
  const scripts = /^\w+(\(\) \{|=)/m.test(block.text) ? [run] : run.map((command) => [command])
  for (const script of scripts) if (script.length > 0) await runScript(script)
}

async function runScript(commands: Command[]): Promise<void> {
  const [{ page, line, text }] = commands as [Command]
  const here = `${page}:${line}`
  // A daemon runs wherever a reader would have one.
  const starts = /^corral start\b/.test(text)
  if (starts === world.isRunning()) {
    const { code, output } = await world.run(starts ? 'corral stop --now' : 'corral start --detach')
    assert.equal(code, 0, output)
  }
  // A backup is brought back on another machine, where no daemon runs.
  const env = text.startsWith('corral restore corral.tgz') ? { CORRAL_HOME: '../elsewhere' } : {}
  const untilSaid = commands.some((command) => GOES_ON.some((one) => one.test(command.text)))
  const script = await world.real(commands.map(ofProgram).join('\n'))
  const { code, output } = await world.run(script, { env, untilSaid })
  const codes = [0, ...OTHER_CODES.filter((one) => one.command.test(text)).map((one) => one.code)]
  assert.ok(codes.includes(code!), `${here} ends with ${code}:\n${script}\n${output}`)
  assert.doesNotMatch(output, /"error":["{]|\n\s+at \S+ \(/, `${here}:\n${script}\n${output}`)
}

/** From a checkout the program has a longer name. */
function ofProgram({ text }: Command): string {
  return text.replace(/^npm run corral -- /, 'corral ')
}

test('what is said about corral in a command is so, also where it is not run', () => {
  const all = blocks.flatMap(({ commands }) => commands)
  assert.ok(all.length > 100, `${all.length} commands`)
  for (const { page, line, text } of all) checkCorral(text, `${page}:${line}`)
})

test('what is said about corral in the middle of a text is so', () => {
  let count = 0
  for (const page of PAGES)
    for (const [index, line] of textOf(page).split('\n').entries())
      for (const [, code = ''] of line.matchAll(/(?<!`)`(corral [^`]+)`/g)) {
        checkCorral(code, `${page}:${index + 1}`, { whole: false })
        count++
      }
  assert.ok(count > 200, `${count} of them`)
})

test('what is said about npm is so', async () => {
  const { default: manifest } = (await import(`${ROOT}/package.json`, { with: { type: 'json' } })) as {
    default: { scripts: Record<string, string> }
  }
  for (const page of PAGES)
    for (const [, name] of textOf(page).matchAll(/npm run ([\w:-]+)(?!.* starts the server)/g))
      assert.ok(Object.hasOwn(manifest.scripts, name!), `${page}: npm run ${name}`)
})

test('every exception is needed', () => {
  const texts = blocks.flatMap(({ commands }) => commands.map(({ text }) => text))
  const patterns = [...NOT_RUN, ...OTHER_CODES].map(({ command }) => command)
  for (const pattern of [...patterns, ...GOES_ON])
    assert.ok(
      texts.some((text) => pattern.test(text)),
      `nothing in the documentation is ${String(pattern)}`,
    )
})
