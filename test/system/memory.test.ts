import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { lookAtMemory, parseMeminfo } from '../../src/system/memory.ts'

const GIB = 1024 ** 3
const kb = (bytes: number): string => `${bytes / 1024} kB`

test('memory that caches hold is available', () => {
  const text = `MemTotal:       8000 kB\nMemFree:         100 kB\nMemAvailable:   5000 kB\nCached: 4900 kB\n`
  assert.deepEqual(parseMeminfo(text), { totalBytes: 8000 * 1024, availableBytes: 5000 * 1024 })
  assert.equal(parseMeminfo('MemTotal: 8000 kB\n'), null)
})

test('the memory of this machine', async () => {
  const { totalBytes, availableBytes } = await lookAtMemory()
  assert.ok(totalBytes > 64 * 1024 ** 2 && totalBytes <= totalmem())
  assert.ok(availableBytes > 0 && availableBytes < totalBytes)
})

/** A machine with 64 GiB, 40 of them available, and these control groups. */
function machine(t: TestContext, own: string, groups: Record<string, Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'corral-memory-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const files = { proc: join(root, 'proc'), cgroup: join(root, 'cgroup') }
  mkdirSync(join(files.proc, 'self'), { recursive: true })
  const meminfo = `MemTotal: ${kb(64 * GIB)}\nMemAvailable: ${kb(40 * GIB)}\n`
  writeFileSync(join(files.proc, 'meminfo'), meminfo)
  writeFileSync(join(files.proc, 'self', 'cgroup'), `0::${own}\n`)
  for (const [group, content] of Object.entries(groups)) {
    mkdirSync(join(files.cgroup, group), { recursive: true })
    for (const [name, text] of Object.entries(content)) writeFileSync(join(files.cgroup, group, name), text)
  }
  return files
}

test('in a container the limit of the container counts, without what files left in memory', async (t) => {
  const files = machine(t, '/', {
    '/': {
      'memory.max': `${4 * GIB}\n`,
      'memory.current': `${3 * GIB}\n`,
      'memory.stat': `anon 5\ninactive_file ${2 * GIB}\nactive_file 7\n`,
    },
  })
  assert.deepEqual(await lookAtMemory(files), { totalBytes: 4 * GIB, availableBytes: 3 * GIB })
})

test('the tightest of the groups around it counts, and none without a limit', async (t) => {
  const files = machine(t, '/user.slice/corral.service', {
    '/user.slice': { 'memory.max': `${16 * GIB}`, 'memory.current': `${15 * GIB}` },
    '/user.slice/corral.service': { 'memory.max': 'max', 'memory.current': `${GIB}` },
  })
  assert.deepEqual(await lookAtMemory(files), { totalBytes: 16 * GIB, availableBytes: GIB })
  const free = machine(t, '/a', { '/a': { 'memory.max': 'max\n', 'memory.current': '5\n' } })
  assert.deepEqual(await lookAtMemory(free), { totalBytes: 64 * GIB, availableBytes: 40 * GIB })
})
