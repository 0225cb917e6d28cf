/**
 * Tells what the newest agents write that the translators have never seen: `npm run agents:drift`.
 *
 *   agents:drift [AGENT…]                 the newest from the registry, in a folder that is thrown away
 *   agents:drift --pinned [AGENT…]        those of `npm run agents:install`
 *   agents:drift --bin claude=/path       a program at hand
 *   agents:drift --write [--runs 3]       makes the baseline anew, from the pinned ones
 *   --json                                for machines
 *
 * Exit status: 0 nothing new, 1 something new or gone, 2 an agent could not be run.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pinned } from '../test/support/agent-home.ts'
import { type Watched, WATCHED } from './drift/agents.ts'
import { type Baseline, baselineOf, knownIn, type Showing } from './drift/baseline.ts'
import { compare, isEmpty } from './drift/compare.ts'
import { installNewest, type Installed } from './drift/install.ts'
import { mergeFields, treatmentOf, type Treatment } from './drift/observed.ts'
import { recordedOf } from './drift/recordings.ts'
import { type Report, textOf, type Trouble } from './drift/report.ts'
import type { Fields } from './drift/shape.ts'
import { playTurns } from './drift/turns.ts'

const SHAPES = join(import.meta.dirname, '../test/recordings/shapes/')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pinned: { type: 'boolean', default: false },
    bin: { type: 'string', multiple: true, default: [] },
    write: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
})

const programs = new Map(values.bin.map(readBin))
const agents = chosen([...positionals, ...programs.keys()])
const installed = await newest(agents)
process.once('SIGINT', () => process.exit(2)).once('exit', () => installed?.remove())
const reports: (Report | Trouble)[] = []
for (const agent of agents) {
  const report = await lookAt(agent).catch((error: unknown) => trouble(agent, error))
  reports.push(report)
  if (!values.json) console.log(textOf(report))
}
if (values.json) console.log(JSON.stringify(reports, null, 2))
process.exitCode = Math.max(...reports.map(statusOf))

function chosen(names: string[]): Watched[] {
  for (const name of names) {
    if (!WATCHED.some((agent) => agent.name === name)) fail(`no agent called ${name}`)
  }
  return names.length === 0 ? [...WATCHED] : WATCHED.filter(({ name }) => names.includes(name))
}

function readBin(given: string): [name: string, path: string] {
  const [name, ...path] = given.split('=')
  if (!name || path.length === 0) fail(`--bin wants NAME=PATH, not ${given}`)
  return [name, path.join('=')]
}

async function newest(wanted: Watched[]): Promise<Installed | null> {
  const missing = wanted.filter(({ name }) => !programs.has(name))
  if (values.pinned || values.write || missing.length === 0) return null
  try {
    return await installNewest(missing.map(({ npmPackage }) => npmPackage))
  } catch (error) {
    return fail(String(error))
  }
}

function fail(problem: string): never {
  console.error(problem)
  process.exit(2)
}

function programOf(agent: Watched): string {
  const own = programs.get(agent.name)
  return own ?? (installed ? join(installed.modules, agent.program) : pinned(agent.program))
}

async function lookAt(agent: Watched): Promise<Report> {
  if (values.write) await writeBaseline(agent)
  const baseline = readBaseline(agent)
  if (!baseline) throw new Error('it has no baseline yet: --write makes one')
  const showing = await playTurns(agent, programOf(agent))
  const drift = compare(baseline, showing, agent.driver.translator, recordedOf(agent))
  const treated = (as: Treatment) =>
    [...showing.seen]
      .filter(([, seen]) => treatmentOf(seen) === as)
      .map(([type]) => type)
      .sort()
  return {
    agent: agent.name,
    pinned: baseline.version,
    now: showing.version,
    drift,
    ignored: treated('ignored'),
    unknown: treated('unknown'),
  }
}

/** What an earlier baseline of the same version knows stays known: some things come in one run out of ten. */
async function writeBaseline(agent: Watched): Promise<void> {
  const runs: Showing[] = []
  for (let left = Number(values.runs); left > 0; left--) runs.push(await playTurns(agent, programOf(agent)))
  const elsewhere = new Map<string, Fields>()
  for (const [type, { fields }] of recordedOf(agent)) elsewhere.set(type, new Map(fields))
  const before = readBaseline(agent)
  if (before?.version === runs[0]?.version) {
    for (const [type, { fields }] of knownIn(before!)) {
      const known = elsewhere.get(type) ?? new Map<string, Set<string>>()
      mergeFields(known, fields)
      elsewhere.set(type, known)
    }
  }
  mkdirSync(SHAPES, { recursive: true })
  writeFileSync(
    fileOf(agent),
    `${JSON.stringify(baselineOf(runs, elsewhere, agent.ofTheMachine), null, 1)}\n`,
  )
}

function readBaseline(agent: Watched): Baseline | null {
  const file = fileOf(agent)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Baseline) : null
}

function fileOf({ name }: Watched): string {
  return join(SHAPES, `${name}.json`)
}

function trouble({ name }: Watched, error: unknown): Trouble {
  return { agent: name, problem: error instanceof Error ? error.message : String(error) }
}

function statusOf(report: Report | Trouble): number {
  if ('problem' in report) return 2
  return isEmpty(report.drift) ? 0 : 1
}
