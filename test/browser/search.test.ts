import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import { until } from '../support/wait.ts'
import { opened, overflow } from './opened.ts'
import { foundOn, noteFound } from './session-support.ts'
import { PHONE, quiet, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

async function said(client: NativeClient, sessionId: string, content: string): Promise<void> {
  const { turnId } = await client.call('session.send', { sessionId, content })
  await until(async () => (await client.call('turn.get', { turnId })).state === 'completed', 'it is said')
}

/** All of it is between the upper and the lower edge of what is scrolled. */
async function isInSight(row: Locator): Promise<boolean> {
  if ((await row.count()) !== 1) return false
  return row.evaluate((element) => {
    const edge = element.closest('.timeline-scroller')!.getBoundingClientRect()
    const { top, bottom } = element.getBoundingClientRect()
    return top >= edge.top && bottom <= edge.bottom
  })
}

test(
  'what was said is found while one types, marked, by session, and leads to its place',
  options,
  async (t) => {
    const { client, daemon, page, go } = await opened(t)
    const make = (title: string) =>
      client.call('session.create', { agent: 'demo', cwd: daemon.project, title })
    const [parser, printer] = [await make('Parser'), await make('Printer')]
    await said(client, parser.id, 'Look [[say The needle is in the third haystack.]]')
    for (let at = 0; at < 30; at++) await said(client, parser.id, `Something else ${at} [[say And more.]]`)
    await said(client, printer.id, 'Is there a needle? [[say Not here.]]')
    await go('/search')
    await page.getByText('Search everything that was said').waitFor()
    const field = page.getByLabel('What to look for')
    await until(() => field.evaluate((one) => one === document.activeElement), 'one can type')

    await page.keyboard.type('needl')
    const groups = page.locator('.found')
    await until(async () => (await groups.count()) === 2, 'both sessions have it')
    // What was found for the first letters stands there until the rest is found.
    await until(async () => {
      const marks = await page.locator('mark').allTextContents()
      return marks.length >= 2 && marks.every((mark) => mark.startsWith('needl'))
    }, 'all of it is marked')
    await until(() => page.url().endsWith('/search?q=needl'), 'the address says it')
    await quiet(page)

    await page.getByLabel('Parser').getByRole('button', { name: 'Only in this session' }).click()
    await until(async () => (await groups.count()) === 1, 'only the one session is looked at')
    await page.reload()
    await page.getByText('in Parser').waitFor()
    await until(async () => (await groups.count()) === 1, 'the same after a reload')
    await quiet(page)

    await noteFound(page)
    await page
      .getByRole('link', { name: /third haystack/ })
      .last()
      .click()
    await until(() => new URL(page.url()).pathname === `/s/${parser.id}`, 'the session is open')
    assert.match(page.url(), /\?at=\d+&turn=/)
    // What the user has said stands where its turn begins.
    const asked = page.locator('.entry[data-kind="user"]', { hasText: 'third haystack' })
    await until(() => isInSight(asked), 'the place is in sight')
    const found = await until(async () => (await foundOn(page))[0], 'it stands out for a while')
    assert.match(found, /^Look .*third haystack/)
    await until(async () => (await page.locator('.entry[data-found]').count()) === 0, 'and then no more')
    assert.ok(await isInSight(asked), 'it stays where it is')

    // And to another place of the same session, from the palette.
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill('"something else 17"')
    await page
      .getByRole('option', { name: /Something else 17/ })
      .first()
      .click()
    const other = page.locator('.entry[data-kind="user"]', { hasText: 'Something else 17' })
    await until(() => isInSight(other), 'the other place is in sight')
    await until(async () => (await foundOn(page)).length === 2, 'it stands out, too')
  },
)

test('nothing found, nothing asked, and more than fits on a page', options, async (t) => {
  const { client, daemon, page, go } = await opened(t)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: daemon.project, title: 'Many' })
  for (let at = 0; at < 40; at++) await said(client, id, `straw number ${at} [[say ok]]`)
  await go('/search?q=unsaid')
  await page.getByText('Nothing was found').waitFor()
  await page.getByLabel('What to look for').fill('straw')
  await page.getByText('30 places, and more').waitFor()
  await quiet(page)
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
