import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'

export const MIB = 1024 ** 2

/** Holds so many MiB, tells its pid, and goes on. */
const HOLD = `const held = Buffer.alloc(Number(process.argv[1]) * ${MIB}, 1)
console.log(process.pid)
setInterval(() => held[0]++, 1000)`

export const holdArgs = (megabytes: number): string[] => ['-e', HOLD, String(megabytes)]

/** A process in a group of its own that holds memory; resolves when it does. */
export async function holdMemory(megabytes: number, env: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const child = spawn(process.execPath, holdArgs(megabytes), {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], ...env },
  })
  await once(child.stdout!, 'data')
  return child
}

export function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}

/** The demo agent, holding as many MiB as the title of its session says. */
export const heavyDemo: AgentDriver = {
  ...demoDriver,
  plan(session, detection) {
    const plan = demoDriver.plan(session, detection)
    const megabytes = Number(session.title ?? 0)
    const code = `globalThis.held=Buffer.alloc(${megabytes * MIB},1)`
    return { ...plan, env: { ...plan.env, NODE_OPTIONS: `--import=data:text/javascript,${code}` } }
  },
}
