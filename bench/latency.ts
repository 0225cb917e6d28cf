import type { ChildProcess } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { claudeDriver } from '../src/agents/claude/driver.ts'
import { uuid } from '../src/core/ids.ts'
import type { Intent } from '../src/core/ports.ts'
import { follow, newSession } from './support/codecast.ts'
import { atMost, type Result } from './support/row.ts'
import { startDaemon } from './support/server.ts'
import { median, spread } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const AGENT = fileURLToPath(new URL('support/stamping-agent.ts', import.meta.url))
const ROUNDS = 4

/** What an event takes from the agent's write to a reader: through the daemon and its log, and over a bare pipe. */
export async function latency(shop: Workshop): Promise<Result[]> {
  const program = join(shop.directory(), 'claude')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${AGENT}" "$@"\n`)
  chmodSync(program, 0o755)
  const daemon = await startDaemon(shop, { env: { CORRAL_CLAUDE_BIN: program } })
  const sessionId = await newSession(daemon.port, daemon.project, 'claude')
  const bare = shop.spawn(program, [], { stdio: ['pipe', 'pipe', 'ignore'] })

  async function throughDaemon(into: number[]): Promise<void> {
    await follow(daemon.port, { sessionId, message: 'go' }, reader(into))
  }
  await throughDaemon([])
  await overPipe(bare, [])
  const through: number[] = []
  const direct: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await throughDaemon(through)
    await overPipe(bare, direct)
  }
  await daemon.stop()
  bare.kill()
  const added = median(through) - median(direct)
  return [
    { name: 'an event, agent’s write → bare pipe', value: median(direct), unit: 'ms', note: spread(direct) },
    {
      name: 'an event, agent’s write → log → SSE client',
      value: median(through),
      unit: 'ms',
      ratio: median(through) / median(direct),
      note: spread(through),
    },
    {
      name: '… added by the daemon',
      value: added,
      unit: 'ms',
      target: atMost(1),
      note: 'difference of the medians',
    },
  ]
}

/** Compares every stamp that comes in with the time at which it does. */
function reader(into: number[]): (bytes: Buffer) => void {
  let rest = ''
  return (bytes) => {
    const now = process.hrtime.bigint()
    rest += bytes.toString('latin1')
    for (const [, stamp] of rest.matchAll(/<(\d+)>/g)) into.push(Number(now - BigInt(stamp!)) / 1e6)
    rest = rest.slice(rest.lastIndexOf('>') + 1)
  }
}

function overPipe(child: ChildProcess, into: number[]): Promise<void> {
  const prompt: Intent = { kind: 'prompt', turnId: uuid(), input: [{ type: 'text', text: 'go' }] }
  const read = reader(into)
  return new Promise((resolve) => {
    const onData = (bytes: Buffer): void => {
      read(bytes)
      if (!bytes.includes('"type":"result"')) return
      child.stdout!.off('data', onData)
      resolve()
    }
    child.stdout!.on('data', onData)
    for (const line of claudeDriver.encode(prompt)) child.stdin!.write(`${line}\n`)
  })
}
