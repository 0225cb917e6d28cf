import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { originOf, PHONE, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** A day of minutes, as the daemon keeps them. */
function historyIn(home: string): void {
  const now = Date.now()
  const lines = Array.from({ length: 120 }, (_, at) =>
    JSON.stringify([now - (120 - at) * 60_000, 16e9, 8e9, 60e6, 500e6 + at * 1e6, at % 4, at % 6, 30]),
  )
  mkdirSync(join(home, '.corral'), { recursive: true })
  writeFileSync(join(home, '.corral', 'resources.jsonl'), `${lines.join('\n')}\n`)
}

test('memory, sessions, agents, quota and money are told, on a desk and on a phone', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const { id: sessionId } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    title: 'Uses memory',
  })
  const { turnId } = await client.call('session.send', { sessionId, content: '[[limits 63 97]] [[say hi]]' })
  await until(async () => (await client.call('turn.get', { turnId })).state === 'completed', 'it is said')
  await go('/system')
  await page.getByRole('link', { name: 'Uses memory' }).waitFor()
  await page.getByText('Claude Code is not installed').or(page.getByText('Claude Code').first()).first().waitFor()
  await page.getByText('37 % left').waitFor()
  await page.getByRole('heading', { name: 'Money and tokens' }).waitFor()
  await page.getByRole('cell', { name: 'demo', exact: true }).last().waitFor()
  await page.getByText(originOf(daemon), { exact: true }).waitFor()
  for (const viewport of [{ width: 1440, height: 900 }, PHONE]) {
    await page.setViewportSize(viewport)
    assert.equal(await overflow(page), 0)
  }
})

test('memory and tiers are drawn over time', options, async (t) => {
  const { daemon, page, go } = await opened(t)
  historyIn(daemon.home)
  await daemon.terminate()
  await daemon.restart()
  const { connect } = await import('../../src/dialects/native/client.ts')
  const client = await connect(daemon.socket)
  const { url } = await client.call('door.code')
  client.close()
  await page.goto(url)
  await go('/system')
  await page.getByRole('img', { name: 'Memory of the agents and the daemon over time' }).locator('canvas').waitFor()
  await page.getByRole('img', { name: 'Sessions by tier over time' }).locator('canvas').waitFor()
  await page.getByRole('radio', { name: '6 hours' }).click()
  await page.locator('.chart').first().getByText('As a table').click()
  const rows = page.getByRole('region', { name: 'Memory of the agents' }).getByRole('row')
  await until(async () => (await rows.count()) > 100, 'the table has the minutes')
})

test('a key is kept and forgotten, and never shown', options, async (t) => {
  const { client, page, go } = await opened(t)
  await go('/system')
  const gemini = page.getByRole('listitem').filter({ hasText: 'Gemini, for Gemini CLI' })
  await gemini.getByRole('button', { name: 'Add a key' }).click()
  await page.getByRole('dialog').getByLabel('Key').fill('planted-key-of-mine')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
  await gemini.getByText('in the file').waitFor()
  assert.deepEqual(
    (await client.call('signin.status')).keys.map(({ name }) => name),
    ['gemini'],
  )
  assert.ok(!(await page.content()).includes('planted-key'))
  await gemini.getByRole('button', { name: 'Forget' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click()
  await gemini.getByText('in the file').waitFor({ state: 'detached' })
})

test('the daemon is stopped after a question, and the page says that it is gone', options, async (t) => {
  const { daemon, page, go } = await opened(t, { expectedErrors: /WebSocket|ERR_CONNECTION|signed out/ })
  await go('/system')
  await page.getByRole('button', { name: 'Stop the daemon' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('From here it cannot be started').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Stop the daemon' }).click()
  await dialog.getByRole('button', { name: 'Stop the daemon' }).click()
  await page.locator('[data-status="lost"], [data-status="connecting"]').first().waitFor({ state: 'attached' })
  await until(() => daemon.terminate().then(() => true), 'it is gone')
})
