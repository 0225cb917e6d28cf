import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NativeClient } from '../../src/dialects/native/client.ts'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { PHONE, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

async function said(client: NativeClient, sessionId: string, content: string): Promise<void> {
  const { turnId } = await client.call('session.send', { sessionId, content })
  await until(async () => (await client.call('turn.get', { turnId })).state === 'completed', 'it is said')
}

test('what was said is found while one types, marked, by session, and leads to its place', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const make = (title: string) => client.call('session.create', { agent: 'demo', cwd: daemon.project, title })
  const [parser, printer] = [await make('Parser'), await make('Printer')]
  await said(client, parser.id, 'Look [[say The needle is in the third haystack.]]')
  for (let at = 0; at < 30; at++) await said(client, parser.id, `Something else ${at} [[say And more.]]`)
  await said(client, printer.id, 'Is there a needle? [[say Not here.]]')
  await go('/search')
  await page.getByText('Search everything that was said').waitFor()
  assert.ok(await page.getByLabel('What to look for').evaluate((field) => field === document.activeElement))

  await page.keyboard.type('needl')
  const groups = page.locator('.found')
  await until(async () => (await groups.count()) === 2, 'both sessions have it')
  const marks = await page.locator('mark').allTextContents()
  assert.ok(marks.length >= 2 && marks.every((mark) => mark.startsWith('needl')))
  assert.match(page.url(), /\/search\?q=needl$/)

  await page.getByLabel('Parser').getByRole('button', { name: 'Only in this session' }).click()
  await until(async () => (await groups.count()) === 1, 'only the one session is looked at')
  await page.reload()
  await page.getByText('in Parser').waitFor()
  await until(async () => (await groups.count()) === 1, 'the same after a reload')

  await page.getByRole('link', { name: /third haystack/ }).last().click()
  await until(() => new URL(page.url()).pathname === `/s/${parser.id}`, 'the session is open')
  assert.match(page.url(), /\?at=\d+$/)
  await page.getByText('The needle is in the third haystack.').last().waitFor()
})

test('nothing found, nothing asked, and more than fits on a page', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: daemon.project, title: 'Many' })
  for (let at = 0; at < 40; at++) await said(client, id, `straw number ${at} [[say ok]]`)
  await go('/search?q=unsaid')
  await page.getByText('Nothing was found').waitFor()
  await page.getByLabel('What to look for').fill('straw')
  await page.getByText('30 places, and more').waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByText('40 places', { exact: true }).waitFor()
  await page.getByLabel('What to look for').fill('')
  await page.getByText('Search everything that was said').waitFor()
})

test('what agents said stays text, on a phone as well', options, async (t) => {
  const { client, daemon, page, go } = await opened(t, { viewport: PHONE })
  const { id } = await client.call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    title: '<img src=x onerror=alert(1)> \u202Enever',
  })
  const hostile = `hostile <script>alert(1)</script> <img src=x onerror=alert(2)> \u202Edeceives ${'x'.repeat(500)}`
  await said(client, id, `Say it [[say64 ${Buffer.from(hostile).toString('base64')}]]`)
  await go('/search?q=hostile')
  await page.locator('.found mark').first().waitFor()
  assert.equal(await page.locator('.found script, .found img').count(), 0)
  assert.match((await page.locator('.found').textContent()) ?? '', /<script>.*⟨U\+202E⟩/)
  assert.equal(await overflow(page), 0)
})
