import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { launchdService } from '../../../src/system/service/launchd.ts'
import { MARK, type ServiceFacts } from '../../../src/system/service/service.ts'
import { systemdService } from '../../../src/system/service/systemd.ts'

const FACTS: ServiceFacts = {
  command: ['/opt/node/bin/node', '/opt/bin/corral'],
  home: '/home/ada/.corral',
  isUsualHome: true,
  env: { PATH: '/home/ada/bin:/usr/bin' },
  homedir: '/home/ada',
  uid: 1000,
}

test('a unit of systemd leaves agents alone, and comes back after a crash', () => {
  const { name, path, text } = systemdService(FACTS)
  assert.deepEqual([name, path], ['corral.service', '/home/ada/.config/systemd/user/corral.service'])
  const lines = text.split('\n')
  for (const wanted of ['KillMode=process', 'Restart=on-failure', 'WantedBy=default.target', `# ${MARK}`])
    assert.ok(lines.includes(wanted), wanted)
  const words = ['/opt/node/bin/node', '/opt/bin/corral', 'start', '--keep-agents', '--home', FACTS.home]
  assert.ok(lines.includes(`ExecStart=${words.map((word) => `"${word}"`).join(' ')}`), text)
  assert.ok(lines.includes('Environment="PATH=/home/ada/bin:/usr/bin"'))
})

test('another data directory has a service of its own', () => {
  const other = systemdService({ ...FACTS, home: '/srv/corral', isUsualHome: false })
  const third = systemdService({ ...FACTS, home: '/srv/other', isUsualHome: false })
  assert.match(other.name, /^corral-[0-9a-f]{8}\.service$/)
  assert.notEqual(other.name, third.name)
})

test('nothing but names, a place and a PATH gets into the file', () => {
  const env = { PATH: '/bin', ANTHROPIC_API_KEY: 'secret', CORRAL_SOCKET: '/run/c.sock' }
  for (const make of [systemdService, launchdService]) {
    const { text } = make({ ...FACTS, env })
    assert.doesNotMatch(text, /secret/)
    assert.match(text, /\/run\/c\.sock/)
  }
})

test('signs that mean something to systemd mean nothing in a path, and a line break is refused', () => {
  const { text } = systemdService({ ...FACTS, home: '/h/100% "$HOME"\\x' })
  assert.match(text, /--home" "\/h\/100%% \\"\$\$HOME\\"\\\\x"$/m)
  assert.match(text, /^Environment="CORRAL_HOME=\/h\/100%% \\"\$HOME\\"\\\\x"$/m)
  assert.throws(() => systemdService({ ...FACTS, home: '/h/a\nExecStart=/bin/evil' }), /cannot name/)
  assert.throws(() => systemdService({ ...FACTS, command: ['/a "b"/node'] }), /cannot run/)
})

test('what systemctl shows is understood', () => {
  const { readState } = systemdService(FACTS)
  const shown = 'MainPID=4711\nActiveState=active\nSubState=running\nUnitFileState=enabled\n'
  assert.deepEqual(readState(shown), {
    isRunning: true,
    isEnabled: true,
    pid: 4711,
    words: 'active (running)',
  })
  const absent = 'MainPID=0\nActiveState=inactive\nSubState=dead\nUnitFileState=\n'
  assert.deepEqual(readState(absent), {
    isRunning: false,
    isEnabled: false,
    pid: null,
    words: 'inactive (dead)',
  })
})

const analyze = spawnSync('systemd-analyze', ['--version'])
const skip = analyze.status === 0 ? false : 'systemd-analyze is not installed here'

test('systemd itself finds nothing wrong with the unit', { skip }, (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'corral-unit-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const program = join(directory, 'a strange $name 100%')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
  const { name, text } = systemdService({ ...FACTS, command: [program], home: '/h/100% "$HOME"\\x' })
  const verify = (content: string) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', '--man=no', path], {
      env: { PATH: process.env['PATH'], HOME: directory, XDG_RUNTIME_DIR: directory },
      encoding: 'utf8',
    })
    const about = stderr.split('\n').filter((line) => line.includes(basename(path)) || line.includes(path))
    return { status, about }
  }
  assert.deepEqual(verify(text), { status: 0, about: [] })
  // It would say so.
  assert.match(
    verify(text.replace('KillMode=process', 'KillMode=softly')).about.join('\n'),
    /KillMode|softly/i,
  )
})

test('a launch agent leaves agents alone, and comes back after a crash', () => {
  const { name, path, text, look } = launchdService({ ...FACTS, command: ['/Apps/A & <B>/corral'] })
  assert.equal(path, '/home/ada/Library/LaunchAgents/dev.corral.daemon.plist')
  assert.deepEqual(look, ['launchctl', 'print', `gui/1000/${name}`])
  assert.match(text, /<string>\/Apps\/A &amp; &lt;B&gt;\/corral<\/string>\n\s*<string>start<\/string>/)
  assert.match(text, /<key>AbandonProcessGroup<\/key><true\/>/)
  assert.match(text, /<key>KeepAlive<\/key><dict><key>SuccessfulExit<\/key><false\/><\/dict>/)
  assert.match(text, /<key>RunAtLoad<\/key><true\/>/)
})

const python = spawnSync('/usr/bin/python3', ['-c', 'import plistlib'])

test('the property list is one', { skip: python.status === 0 ? false : 'no Python' }, () => {
  const { text } = launchdService({ ...FACTS, home: '/Users/ada/a & b' })
  const script = 'import plistlib,sys,json;print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const { stdout } = spawnSync('/usr/bin/python3', ['-c', script], { input: text, encoding: 'utf8' })
  const read = JSON.parse(stdout) as Record<string, unknown>
  assert.deepEqual(read['ProgramArguments'], [
    ...FACTS.command,
    'start',
    '--keep-agents',
    '--home',
    '/Users/ada/a & b',
  ])
  assert.deepEqual(read['KeepAlive'], { SuccessfulExit: false })
  assert.equal((read['EnvironmentVariables'] as Record<string, string>)['CORRAL_HOME'], '/Users/ada/a & b')
})

test('what launchctl prints is understood', () => {
  const { readState } = launchdService(FACTS)
  const printed = 'gui/501/dev.corral.daemon = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 812\n}'
  assert.deepEqual(readState(printed), { isRunning: true, isEnabled: null, pid: 812, words: 'running' })
  assert.equal(readState('{\n\tstate = not running\n}').isRunning, false)
})
