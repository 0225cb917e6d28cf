import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { PHONE, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }
const daemon = { env: { CORRAL_RELAY_AGENT: 'demo' } }

function ask(to: TestDaemon, content: string, { headers, signal }: RequestInit = {}): Promise<Response> {
  return fetch(`${to.listeners['relay']}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
    signal: signal ?? null,
    body: JSON.stringify({
      model: 'claude-sonnet-4-6',
      max_tokens: 500,
      messages: [{ role: 'user', content }],
    }),
  })
}

/** The numbers of a chart, as its table has them: a row for each point in time. */
async function tableOf(page: Page, label: string): Promise<number[][]> {
  const chart = page.getByRole('img', { name: label })
  await chart.locator('canvas').waitFor()
  await page.locator('.chart', { has: chart }).getByText('As a table').click()
  const rows = page.getByRole('region', { name: label }).locator('tbody tr')
  await rows.first().waitFor()
  return Promise.all(
    (await rows.all()).map(async (row) => (await row.locator('td.number').allTextContents()).map(numberIn)),
  )
}

function largest(rows: readonly number[][], column: number): number {
  return Math.max(...rows.map((row) => row[column]!))
}

function numberIn(text: string): number {
  return Number(text.replaceAll(/[^\d.]/g, ''))
}

function figure(page: Page, name: string): Promise<string> {
  const found = page.locator('.figure', { has: page.getByText(name, { exact: true }) })
  return found.locator('.figure-value').innerText()
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

  // The figures are asked for every few seconds: from now on the call that is over is among them.
  await go('/relay')
  await page.getByRole('heading', { name: 'Over time' }).waitFor()
  await quiet(page)
  const calls = await tableOf(page, 'Calls over time')
  assert.ok(calls.length > 20)
  assert.ok(largest(calls, 0) >= 1)
  const tokens = await tableOf(page, 'Tokens over time')
  assert.ok(largest(tokens, 0) > 0, 'tokens in')
  assert.ok(largest(tokens, 1) > 0, 'tokens out')
  const avoided = largest(await tableOf(page, 'Cost avoided over time'), 0)
  assert.ok(avoided > 0, String(avoided))
  assert.equal(numberIn(await figure(page, 'cost avoided')), avoided)
  for (const viewport of [{ width: 1440, height: 900 }, PHONE]) {
    await page.setViewportSize(viewport)
    assert.equal(await overflow(page), 0)
  }
})

test(
  'settings are changed here; what is wrong is said at its field; no key is ever shown',
  options,
  async (t) => {
    const { client, page, go } = await opened(t, { daemon })
    await go('/relay')
    await page.getByRole('button', { name: 'Set it up' }).click()
    await page.getByLabel('Working directory', { exact: true }).fill('/nowhere/at/all')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('workingDir: no such directory').waitFor()
    await page.getByLabel('Working directory', { exact: true }).fill('')
    await page.getByLabel('Waiting agents').fill('1')
    await page.getByRole('button', { name: 'Add an API' }).click()
    await page.getByLabel('Name').fill('local')
    await page.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:9/v1')
    await page.getByLabel('Key').fill('planted-key-of-mine')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It has one; type to replace it').waitFor()
    const settings = await client.call('relay.settings.get')
    assert.deepEqual(
      [settings.poolSize, settings.upstreams[0]?.name, settings.upstreams[0]?.hasKey],
      [1, 'local', true],
    )
    await page.reload()
    await page.getByRole('heading', { name: 'Settings', level: 2 }).waitFor()
    assert.ok(!(await page.content()).includes('planted-key'))
    assert.equal(await page.getByLabel('Key').inputValue(), '')
  },
)

test('agents that wait for the next call are counted, and who answers is told', options, async (t) => {
  const { daemon: running, client, page, go } = await opened(t, { daemon })
  await client.call('relay.settings.set', { poolSize: 2 })
  await (await ask(running, '[[words 5]]')).text()
  await go('/relay')
  const section = page.getByRole('region', { name: 'Who answers' })
  await section.getByRole('listitem').filter({ hasText: 'demo' }).getByText('well', { exact: true }).waitFor()
  await until(async () => (await figure(page, 'agents wait')) === '2', 'both wait')
  await until(async () => (await figure(page, 'calls under way')) === '0', 'nobody asks')
  const leave = new AbortController()
  const asked = ask(running, '[[hang]]', { signal: leave.signal })
  await until(async () => (await figure(page, 'calls under way')) === '1', 'one is asked')
  await until(async () => (await figure(page, 'in use')) === '1', 'it is in use')
  leave.abort()
  await asked.catch(() => null)
})
