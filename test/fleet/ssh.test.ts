import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { corral } from '../cli/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'
import { describeWay, type Way } from './suite.ts'

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path))
const missing =
  SSHD !== undefined && spawnSync('ssh', ['-V']).status === 0
    ? undefined
    : 'no sshd here: apt-get install openssh-server openssh-client'

/** A real sshd on loopback with keys that are thrown away. */
async function serveSsh(there: TestDaemon): Promise<Way & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'corral-ssh-'))
  const at = (name: string): string => join(folder, name)
  const key = (name: string): void =>
    void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  key('host')
  key('mine')
  const port = await freePort()
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  writeFileSync(
    at('sshd_config'),
    `Port ${port}\nListenAddress 127.0.0.1\nHostKey ${at('host')}\nAuthorizedKeysFile ${at('mine.pub')}\nPidFile none\n` +
      `UsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nAllowTcpForwarding local\n` +
      `AllowStreamLocalForwarding yes\nX11Forwarding no\nSetEnv CORRAL_HOME=${there.corralHome}\n`,
  )
  writeFileSync(
    at('config'),
    `Host desk\n  HostName 127.0.0.1\n  Port ${port}\n  User ${userInfo().username}\n  IdentityFile ${at('mine')}\n  IdentitiesOnly yes\n` +
      `  UserKnownHostsFile ${at('known_hosts')}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n`,
  )
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`)
  writeFileSync(at('ssh'), `#!/bin/sh\necho $$ >>${at('pids')}\nexec ssh -F ${at('config')} "$@"\n`)
  writeFileSync(at('pids'), '')
  chmodSync(at('ssh'), 0o755)

  let server: ChildProcess | null = null
  const listens = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('data', () => socket.destroy())
    })
  async function start(): Promise<void> {
    server = spawn(SSHD!, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    server.stderr!.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-2000)))
    await until(listens, () => `sshd listens: ${said}`)
  }
  async function end(): Promise<void> {
    if (!server) return
    const gone = once(server, 'exit')
    server.kill('SIGTERM')
    await gone
    server = null
  }
  const cut = (): void => {
    for (const pid of readFileSync(at('pids'), 'utf8').split('\n').filter(Boolean)) kill(Number(pid))
    writeFileSync(at('pids'), '')
  }
  await start()
  return {
    folder,
    target: 'desk',
    env: { CORRAL_SSH: at('ssh') },
    cut,
    async block(blocked) {
      if (!blocked) return start()
      await end()
      cut()
    },
    async close() {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

if (missing === undefined) describeWay('by ssh', serveSsh)
else test('by ssh', { skip: missing }, () => {})

test('ssh: who is not let in, or not known, is told why', { skip: missing ?? false }, async (t) => {
  const there = await startDaemon()
  t.after(() => there.stop())
  const way = await serveSsh(there)
  t.after(() => way.close())
  const here = await startDaemon({ env: way.env })
  t.after(() => here.stop())
  const add = (target: string): Promise<{ code: number | null; stderr: string }> =>
    corral(here.env, ['machine', 'add', target, '--name', 'desk'])

  const known = readFileSync(join(way.folder, 'known_hosts'))
  writeFileSync(join(way.folder, 'known_hosts'), '')
  assert.match((await add('desk')).stderr, /Host key verification failed/)
  writeFileSync(join(way.folder, 'known_hosts'), known)
  rmSync(join(way.folder, 'mine'))
  assert.match((await add('desk')).stderr, /Permission denied/)
  assert.match((await add('-oProxyCommand=touch /tmp/x')).stderr, /unknown option|target: give a host/)
  const injected = await corral(here.env, ['machine', 'add', '--name', 'desk', '--', '-oProxyCommand=true'])
  assert.match(injected.stderr, /target: give a host/)
  assert.match((await corral(here.env, ['machines'])).stderr, /this machine is alone/)
})
