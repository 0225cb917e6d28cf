#!/usr/bin/env node
/** Stands in for systemctl and launchctl in the tests of `corral service`: writes down what it is asked, and runs the unit. */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const {
  MANAGER_STATE: state = '',
  MANAGER_REFUSES: refusal,
  MANAGER_REFUSES_TO: refused,
  HOME = '',
} = process.env
const name = basename(process.argv[1]!)
const args = process.argv.slice(2).filter((word) => word !== '--user')
appendFileSync(join(state, 'calls'), `${[name, ...process.argv.slice(2)].join(' ')}\n`)
if (refusal && (refused ?? args[0]) === args[0]) {
  console.error(refusal)
  process.exit(1)
}

const pidFile = join(state, 'pid')
const unitFile = join(HOME, '.config/systemd/user/corral.service')

function start(): void {
  const unit = readFileSync(unitFile, 'utf8')
  const line = /^ExecStart=(.*)$/m.exec(unit)![1]!
  const [program, ...rest] = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!)
  const given = [...unit.matchAll(/^Environment="([^=]+)=(.*)"$/gm)].map(([, key, value]) => [key!, value!])
  const output = openSync(join(state, 'output'), 'a')
  const env = { HOME, ...Object.fromEntries(given) }
  const child = spawn(program!, rest, { env, cwd: '/', detached: true, stdio: ['ignore', output, output] })
  writeFileSync(pidFile, String(child.pid))
  child.unref()
}

function running(): number | null {
  if (!existsSync(pidFile)) return null
  const pid = Number(readFileSync(pidFile, 'utf8'))
  try {
    process.kill(pid, 0)
    return /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) ? null : pid
  } catch {
    return null
  }
}

/** KillMode=process: the main process, and nobody else. */
async function stop(): Promise<void> {
  const pid = running()
  if (pid !== null) process.kill(pid, 'SIGTERM')
  for (let round = 0; round < 3000 && running() !== null; round++) await delay(10)
  rmSync(pidFile, { force: true })
}

const [verb] = args
if (name === 'systemctl') {
  if (verb === 'enable') start()
  if (verb === 'disable' || verb === 'restart') await stop()
  if (verb === 'restart') start()
  if (verb === 'show') {
    const pid = running()
    const enabled = existsSync(unitFile) ? 'enabled' : ''
    console.log(
      `MainPID=${pid ?? 0}\nActiveState=${pid ? 'active' : 'inactive'}\nSubState=${pid ? 'running' : 'dead'}`,
    )
    console.log(`UnitFileState=${enabled}`)
  }
}
