import assert from 'node:assert/strict'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { daemonIdOf, readDaemonId } from '../../../src/system/daemon-id.ts'
import { servicesOf, wantsAdvertising } from '../../../src/dialects/clawde/mdns.ts'
import { until } from '../../support/wait.ts'

const SIDE = join(import.meta.dirname, 'mdns-side.ts')

test('advertised when others reach it, unless somebody says otherwise', () => {
  assert.equal(wantsAdvertising(null, false), false)
  assert.equal(wantsAdvertising(null, true), true)
  assert.equal(wantsAdvertising(true, false), true)
  assert.equal(wantsAdvertising(false, true), false)
})

test('both service types are published, and a long name is cut between characters', () => {
  const announcement = { port: 4300, version: '1.0.0', daemonId: '0123456789ab', name: 'ü'.repeat(150) }
  const services = servicesOf(announcement, 'desk.example.org')
  assert.deepEqual(
    services.map(({ name, type, protocol, host }) => [name, type, protocol, host]),
    [
      ['clawd-01234567', 'clawd', 'tcp', 'desk.local'],
      ['clawd-01234567', 'clawde', 'tcp', 'desk.local'],
    ],
  )
  assert.equal(services[0]!.txt!['name'], 'ü'.repeat(100))
  const odd = servicesOf({ ...announcement, name: `a${'ü'.repeat(150)}` }, 'desk')
  assert.equal(odd[0]!.txt!['name'], `a${'ü'.repeat(99)}`)
})

test('the id of a daemon is the same at every start, another for another home, and does not tell the machine id', async () => {
  const machine = 'f'.repeat(32)
  const id = daemonIdOf(machine, '/home/me/.corral')
  assert.equal(id, daemonIdOf(machine, '/home/me/.corral'))
  assert.notEqual(id, daemonIdOf(machine, '/home/you/.corral'))
  assert.match(id, /^[0-9a-f]{64}$/)
  assert.ok(!id.includes(machine))
  assert.equal(await readDaemonId('/somewhere'), await readDaemonId('/somewhere'))
})

/** Two machines and a cable between them, as far as the kernel is concerned. */
const CABLE = `
unshare -n sh -c '
  until ip link show cable1 > /dev/null 2>&1; do sleep 0.02; done
  ip addr add 10.87.0.2/24 dev cable1 && ip link set cable1 up && ip link set lo up
  ip route add default dev cable1
  exec "$@"' neighbour "$1" "$2" neighbour <&3 >&4 3<&- 4>&- &
until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.02; done
ip link add cable0 type veth peer name cable1 netns $!
ip addr add 10.87.0.1/24 dev cable0 && ip link set cable0 up && ip link set lo up
ip route add default dev cable0
until ip link show cable0 | grep -q LOWER_UP; do sleep 0.02; done
"$1" "$2" daemon 4321 3<&- 4>&-
code=$?
wait
exit $code
`

const canHaveNetworks =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-rn', 'sh', '-c', 'ip link add try0 type veth peer name try1']).status === 0

/** What a side says, line by line, and a way to wait for it. */
function listen(stream: NodeJS.ReadableStream): (wanted: (line: string) => boolean) => Promise<string> {
  const lines: string[] = []
  createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return (wanted) =>
    until(
      () => lines.find(wanted),
      () => `${String(wanted)}; heard:\n${lines.join('\n')}`,
    )
}

test(
  'a neighbour in the network finds both services, and hears the goodbye',
  { skip: canHaveNetworks ? false : 'no network of its own may be made here' },
  async (t) => {
    const child: ChildProcess = spawn('unshare', ['-rn', 'sh', '-c', CABLE, 'sh', process.execPath, SIDE], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'],
      detached: true,
    })
    t.after(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL')
    })
    const exited = once(child, 'exit')
    const daemon = listen(child.stdout!)
    const neighbour = listen(child.stdio[4] as NodeJS.ReadableStream)

    assert.deepEqual(JSON.parse(await daemon((line) => line.includes('announced'))), { announced: true })
    for (const type of ['_clawd', '_clawde']) {
      const line = await neighbour((line) => line.includes('"up"') && line.includes(`${type}._tcp`))
      const { up, port, txt, addresses } = JSON.parse(line) as Record<string, unknown>
      assert.equal(up, `clawd-abcdef01.${type}._tcp.local`)
      assert.equal(port, 4321)
      assert.deepEqual(txt, {
        version: '1.2.3',
        daemon_id: 'abcdef0123456789',
        port: '4321',
        name: 'Schreibtisch am Fluß',
      })
      assert.ok((addresses as string[]).includes('10.87.0.1'), `an address to reach it by: ${line}`)
    }

    child.stdin!.end('stop\n')
    await daemon((line) => line.includes('stopped'))
    for (const type of ['_clawd', '_clawde']) {
      await neighbour((line) => line.includes('"down"') && line.includes(`${type}._tcp`))
    }
    ;(child.stdio[3] as NodeJS.WritableStream).end()
    assert.deepEqual(await exited, [0, null], 'both sides end by themselves')
  },
)

test(
  'a port that another program keeps to itself is a warning, not the end',
  { skip: canHaveNetworks ? false : 'no network of its own may be made here' },
  () => {
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['-rn', 'sh', '-c', 'ip link set lo up; exec "$@"', 'sh', process.execPath, SIDE, 'refused'],
      { encoding: 'utf8', timeout: 20_000 },
    )
    assert.match(stdout, /"warning":"advertising in the local network: .*EADDRINUSE/)
    assert.equal(status, 0, stderr)
  },
)
