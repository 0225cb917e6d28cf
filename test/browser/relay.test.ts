import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestDaemon } from '../support/daemon.ts'
import { opened, overflow } from './opened.ts'
import { PHONE, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }
const daemon = { env: { CORRAL_RELAY_AGENT: 'demo' } }

function ask(to: TestDaemon, content: string, { headers, signal }: RequestInit = {}): Promise<Response> {
  return fetch(`${to.listeners['relay']}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
    signal: signal ?? null,
    body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 500, messages: [{ role: 'user', content }] }),
  })
}

test('calls are seen as they come, counted, and drawn; the numbers are a table, too', options, async (t) => {
  const { daemon: running, page, go } = await opened(t, { daemon })
  await go('/relay')
  await page.getByText('No program has called yet').waitFor()
  await (await ask(running, '[[words 50]]')).text()
  await page.getByRole('heading', { name: 'Over time' }).waitFor()
  await page.getByRole('cell', { name: 'claude-sonnet-4-6' }).waitFor()

  const leave = new AbortController()
  const asked = ask(running, '[[hang]]', { headers: { 'x-ir-session-id': 'reviewer' }, signal: leave.signal })
  await page.getByLabel('Calls under way').getByText('in reviewer').waitFor()
  leave.abort()
  await asked.catch(() => null)
  await page.getByLabel('Calls under way').waitFor({ state: 'detached' })

  const chart = page.getByRole('img', { name: 'Calls over time' })
  await chart.locator('canvas').waitFor()
  await page.locator('.chart', { has: chart }).getByText('As a table').click()
  const table = page.getByRole('region', { name: 'Calls over time' })
  assert.ok((await table.getByRole('row').count()) > 20)
  for (const viewport of [{ width: 1440, height: 900 }, PHONE]) {
    await page.setViewportSize(viewport)
    assert.equal(await overflow(page), 0)
  }
})

test('settings are changed here; what is wrong is said at its field; no key is ever shown', options, async (t) => {
  const { client, page, go } = await opened(t, { daemon })
  await go('/relay')
  await page.getByRole('button', { name: 'Set it up' }).click()
  await page.getByLabel('Working directory').fill('/nowhere/at/all')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('workingDir: no such directory').waitFor()
  await page.getByLabel('Working directory').fill('')
  await page.getByLabel('Waiting agents').fill('1')
  await page.getByRole('button', { name: 'Add an API' }).click()
  await page.getByLabel('Name').fill('local')
  await page.getByLabel('Address').fill('http://127.0.0.1:9/v1')
  await page.getByLabel('Key').fill('planted-key-of-mine')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('It has one; type to replace it').waitFor()
  const settings = await client.call('relay.settings.get')
  assert.deepEqual([settings.poolSize, settings.upstreams[0]?.name, settings.upstreams[0]?.hasKey], [1, 'local', true])
  await page.reload()
  await page.getByRole('heading', { name: 'Settings', level: 2 }).waitFor()
  assert.ok(!(await page.content()).includes('planted-key'))
  assert.equal(await page.getByLabel('Key').inputValue(), '')
})
