import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { licenseBySettings, noLicense } from '../../src/relay/license/license.ts'
import { type LicenseWishes, remoteLicense } from '../../src/relay/license/remote.ts'
import { openUsageCount } from '../../src/relay/license/usage-count.ts'
import { until } from '../support/wait.ts'
import { jsonOf, scratch, sendJson, serve } from './servers.ts'

const KEY = 'ir_live_0123456789abcdWXYZ'
const DAY = 24 * 60 * 60_000
const SOLO = { valid: true, tier: 'solo', features: ['streaming'], usageThisMonth: 0, usageCap: 5000 }

let answer: RequestListener = () => undefined
const asked: unknown[] = []
const authority = await serve(async (req, res) => {
  asked.push(await jsonOf(req))
  answer(req, res)
})
const says =
  (license: object, status = 200): RequestListener =>
  (_, res) =>
    sendJson(res, status, license)

interface Given {
  directory?: string
  wishes?: Partial<LicenseWishes>
  everyMs?: number
  timeoutMs?: number
  url?: string
}

function remote({ directory = scratch(), wishes, url = authority.url, ...more }: Given = {}) {
  const clock = { now: Date.UTC(2026, 10, 16) }
  const now = () => clock.now
  const current: LicenseWishes = {
    licenseKey: KEY,
    licenseUrl: url,
    dashboardUrl: null,
    topUpUrl: null,
    ...wishes,
  }
  const problems: string[] = []
  const usage = openUsageCount({ path: join(directory, 'usage.json'), now })
  asked.length = 0
  const policy = remoteLicense({
    wishes: () => current,
    usage,
    path: join(directory, 'license.json'),
    now,
    onProblem: (problem) => problems.push(problem),
    ...more,
  })
  after(() => policy.close())
  return { policy, clock, usage, directory, wishes: current, problems }
}

test('without a license everything is allowed', async () => {
  let at = 5
  let key = false
  const off = noLicense({ hasKey: () => key, now: () => at })
  assert.deepEqual(off.view(), {
    configured: false,
    license: {
      valid: true,
      tier: 'self-hosted',
      features: ['streaming'],
      usageThisMonth: 0,
      usageCap: null,
      capExceeded: false,
      lastCapChange: 0,
      topUpGrants: 0,
    },
    refreshedAt: 5,
  })
  await (await off.admit()).count()
  at = 6
  key = true
  const { configured, refreshedAt } = await off.refresh()
  assert.deepEqual([configured, refreshedAt, off.view().refreshedAt], [true, 6, 6])
})

test('the settings decide which policy holds', async () => {
  answer = says({ valid: false })
  const t = remote()
  let on = false
  const license = licenseBySettings(() => on, {
    off: noLicense({ hasKey: () => false, now: () => 0 }),
    remote: t.policy,
  })
  await license.admit()
  on = true
  await assert.rejects(license.admit(), { status: 402 })
})

test('a key is shown to the authority, and its answer to clients in the shape they know', async () => {
  answer = says(SOLO)
  const { policy, clock } = remote()
  assert.deepEqual(await policy.refresh(), {
    configured: true,
    license: {
      valid: true,
      tier: 'solo',
      features: ['streaming'],
      usageThisMonth: 0,
      usageCap: 5000,
      capExceeded: false,
      lastCapChange: 0,
      topUpGrants: 0,
    },
    refreshedAt: clock.now,
  })
  assert.deepEqual(asked, [{ licenseKey: KEY }])
  await (await policy.admit()).count()
  await (await policy.admit()).count()
  ;(await policy.admit()).free()
  assert.equal(policy.view().license.usageThisMonth, 2)
  assert.equal(asked.length, 1)
})

test('an invalid license is refused in the known words', async () => {
  for (const refusal of [says({ valid: false }), says({ error: 'no' }, 401), says({}, 404)]) {
    answer = refusal
    const { policy } = remote({ wishes: { dashboardUrl: 'https://example.com/dashboard' } })
    await assert.rejects(policy.admit(), {
      status: 402,
      message: 'License invalid',
      extra: { code: 'license_invalid', dashboardUrl: 'https://example.com/dashboard' },
    })
    assert.equal(policy.view().license.valid, false)
  }
})

test('without a key nobody is asked; the address to go to is the authority’s own', async () => {
  const { policy } = remote({ wishes: { licenseKey: null } })
  await assert.rejects(policy.admit(), {
    status: 402,
    extra: { code: 'license_invalid', dashboardUrl: authority.url },
  })
  assert.equal((await policy.refresh()).configured, false)
  assert.deepEqual(asked, [])
})

test('the cap is refused in the known words, exactly at its number, also for calls at the same time', async () => {
  answer = says({ ...SOLO, usageCap: 5 })
  const { policy } = remote({ wishes: { topUpUrl: 'https://example.com/topup' } })
  const places = await Promise.allSettled(Array.from({ length: 8 }, () => policy.admit()))
  const admitted = places.flatMap((place) => (place.status === 'fulfilled' ? [place.value] : []))
  assert.equal(admitted.length, 5)
  admitted.pop()!.free()
  await Promise.all(admitted.map((place) => place.count()))
  assert.equal(policy.view().license.capExceeded, false)
  await (await policy.admit()).count()
  assert.equal(policy.view().license.capExceeded, true)
  await assert.rejects(policy.admit(), {
    status: 402,
    message: 'Monthly usage cap reached (6 / 5). Top up to continue.',
    extra: { code: 'cap_exceeded', tier: 'solo', used: 6, cap: 5, topUpUrl: 'https://example.com/topup' },
  })
})

test('after the cap the authority is asked again, but not for each call', async () => {
  answer = says({ ...SOLO, usageCap: 0 })
  const { policy, clock } = remote()
  await assert.rejects(policy.admit(), { status: 402 })
  await assert.rejects(policy.admit(), { status: 402 })
  assert.equal(asked.length, 1)
  answer = says(SOLO)
  clock.now += 20_000
  await assert.rejects(policy.admit(), { status: 402 })
  await until(() => policy.view().license.usageCap === 5000)
  await policy.admit()
})

test('a new month begins at zero, and a clock that goes back gives nothing back', async () => {
  answer = says({ ...SOLO, usageCap: 1 })
  const { policy, clock, usage } = remote()
  await (await policy.admit()).count()
  await assert.rejects(policy.admit(), { status: 402 })
  clock.now = Date.UTC(2026, 10, 20)
  await policy.refresh()
  clock.now = Date.UTC(2026, 11, 1) - 1
  await policy.refresh()
  await assert.rejects(policy.admit(), { status: 402 })
  clock.now += 1
  await (await policy.admit()).count()
  assert.equal(usage.used(), 1)
  clock.now -= 2
  await assert.rejects(policy.admit(), { status: 402 })
})

test('what the authority has counted elsewhere counts here', async () => {
  answer = says({ license: { ...SOLO, usageThisMonth: 4999 } })
  const { policy } = remote()
  await (await policy.admit()).count()
  await assert.rejects(policy.admit(), {
    extra: { code: 'cap_exceeded', tier: 'solo', used: 5001, cap: 5000, topUpUrl: authority.url },
  })
})

test('an authority that is gone is trusted for seven days, also over a restart', async () => {
  const own = await serve((req, res) => answer(req, res))
  answer = says(SOLO)
  const directory = scratch()
  const first = remote({ directory, url: own.url })
  await first.policy.refresh()
  await own.close()
  const { policy, clock, problems } = remote({ directory, url: own.url })
  clock.now += 7 * DAY - 1
  await policy.refresh()
  await policy.admit()
  assert.match(problems.join(), /cannot be reached/)
  assert.ok(!problems.join().includes(KEY))
  clock.now += 1
  await assert.rejects(policy.admit(), { status: 402 })
  for (const name of readdirSync(directory)) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600)
    assert.ok(!readFileSync(join(directory, name), 'utf8').includes(KEY))
  }
})

test('an authority that never answers costs one wait, not one for each call', async () => {
  answer = () => undefined
  const { policy, problems } = remote({ timeoutMs: 50 })
  await assert.rejects(policy.admit(), { status: 402 })
  await assert.rejects(policy.admit(), { status: 402 })
  // On a busy machine the time may be over before the question has arrived.
  assert.ok(asked.length <= 1)
  assert.match(problems.join(), /^[^,]*cannot be reached[^,]*$/)
})

test('nonsense and redirects are no answer, and change nothing', async () => {
  answer = says(SOLO)
  const { policy, problems } = remote()
  await policy.refresh()
  for (const bad of [
    says({ valid: 'yes' }),
    says({}, 500),
    ((_, res) => res.end('<html>')) satisfies RequestListener,
    ((_, res) => res.end('x'.repeat(100_000))) satisfies RequestListener,
    ((_, res) => res.writeHead(302, { location: '/elsewhere' }).end()) satisfies RequestListener,
  ]) {
    answer = bad
    assert.equal((await policy.refresh()).license.valid, true)
  }
  assert.equal(problems.length, 5)
})

test('a new key is judged by itself', async () => {
  answer = says(SOLO)
  const { policy, wishes } = remote()
  await policy.admit()
  answer = says({ valid: false })
  wishes.licenseKey = 'ir_live_another_key_000000'
  await assert.rejects(policy.admit(), { status: 402 })
})

test('it is asked again by itself', async () => {
  answer = says(SOLO)
  const { policy } = remote({ everyMs: 10 })
  await until(() => asked.length >= 3)
  assert.equal(policy.view().license.valid, true)
})

test('a count that was said to be written survives kill -9', async () => {
  const path = join(scratch(), 'usage.json')
  const child = spawn(process.execPath, [join(import.meta.dirname, 'counting.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = 0
  child.stdout.on('data', (chunk: Buffer) => {
    said = Number(chunk.toString().trim().split('\n').at(-1))
    if (said > 60) child.kill('SIGKILL')
  })
  await once(child, 'close')
  const kept = openUsageCount({ path, now: Date.now }).used()
  assert.ok(said > 60 && kept >= said && kept <= said + 3, `${said} was said, ${kept} was kept`)
})

test('a count that cannot be read begins at zero, and says so', () => {
  const path = join(scratch(), 'usage.json')
  writeFileSync(path, '{"month":"20')
  const problems: string[] = []
  const usage = openUsageCount({ path, now: Date.now, onProblem: (problem) => problems.push(problem) })
  assert.equal(usage.used(), 0)
  assert.equal(problems.length, 1)
})

test('a call that cannot be counted is not answered', async () => {
  answer = says(SOLO)
  const directory = scratch()
  const { wishes, clock } = remote()
  const usage = openUsageCount({ path: join(directory, 'no', 'such', 'place'), now: () => clock.now })
  const path = join(directory, 'license.json')
  const policy = remoteLicense({ wishes: () => wishes, usage, path, now: () => clock.now })
  after(() => policy.close())
  const place = await policy.admit()
  await assert.rejects(place.count(), { name: 'RelayFailure', status: 503 })
})
