import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { corral } from '../cli/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { describeWay, type Way } from './suite.ts'

const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find((path) => existsSync(path))
const missing =
  SSHD !== undefined && spawnSync('ssh', ['-V']).status === 0
    ? undefined
    : 'no sshd here: apt-get install openssh-server openssh-client'

/**
 * A real sshd with keys that are thrown away, one process for each connection. The port is ours, from the first connection to the last:
 * nobody can take it while nothing gets through.
 */
async function serveSsh(there: TestDaemon): Promise<Way & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'corral-ssh-'))
  const at = (name: string): string => join(folder, name)
  const key = (name: string): void =>
    void execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  key('host')
  key('mine')
  let isBlocked = false
  const open = new Set<Socket>()
  const served = new Set<Promise<unknown>>()
  const server = createServer((socket) => {
    if (isBlocked) return socket.destroy()
    open.add(socket)
    const sshd = spawn(SSHD!, ['-i', '-f', at('sshd_config')], { stdio: ['pipe', 'pipe', 'ignore'] })
    const gone = once(sshd, 'close').finally(() => served.delete(gone))
    served.add(gone)
    for (const stream of [socket, sshd.stdin, sshd.stdout]) stream.on('error', () => {})
    socket.pipe(sshd.stdin)
    sshd.stdout.pipe(socket)
    socket.on('close', () => {
      open.delete(socket)
      sshd.kill('SIGKILL')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  writeFileSync(
    at('sshd_config'),
    `HostKey ${at('host')}\nAuthorizedKeysFile ${at('mine.pub')}\nPidFile none\n` +
      `UsePAM no\nStrictModes no\nPermitRootLogin yes\nPasswordAuthentication no\nAllowTcpForwarding local\n` +
      `AllowStreamLocalForwarding yes\nX11Forwarding no\nSetEnv CORRAL_HOME=${there.corralHome}\n`,
  )
  writeFileSync(
    at('config'),
    `Host desk\n  HostName 127.0.0.1\n  Port ${port}\n  User ${userInfo().username}\n  IdentityFile ${at('mine')}\n  IdentitiesOnly yes\n` +
      `  UserKnownHostsFile ${at('known_hosts')}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n`,
  )
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${readFileSync(at('host.pub'), 'utf8')}`)
  writeFileSync(at('ssh'), `#!/bin/sh\nexec ssh -F ${at('config')} "$@"\n`)
  chmodSync(at('ssh'), 0o755)
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    folder,
    target: 'desk',
    env: { CORRAL_SSH: at('ssh') },
    cut,
    async block(blocked) {
      isBlocked = blocked
      if (blocked) cut()
    },
    async close() {
      isBlocked = true
      cut()
      server.close()
      await Promise.all(served)
      rmSync(folder, { recursive: true, force: true })
    },
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
