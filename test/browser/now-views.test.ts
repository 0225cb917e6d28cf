import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { asking, decided, ended, titlesIn, untilIn } from './asking.ts'
import { newSession } from './opened.ts'
import {
  accessible,
  browserFor,
  daemonFor,
  heldMoments,
  live,
  nativeFor,
  originOf,
  quiet,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

test('groups by project and the board are remembered; a filter finds what is folded', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  for (const name of ['shop', 'blog']) {
    const cwd = join(daemon.home, name)
    mkdirSync(cwd)
    await client.call('session.create', { agent: 'demo', cwd, title: `In the ${name}` })
  }
  await ended(client, daemon, 'Ended')
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Ended'])
  assert.deepEqual(await titlesIn(page, 'Quiet'), [], 'what is quiet is folded')
  await page.keyboard.press('/')
  await page.keyboard.type('blog')
  await untilIn(page, 'Quiet', ['In the blog'])
  await page.keyboard.press('Escape')
  await untilIn(page, 'Done since you looked', ['Ended'])
  await page.keyboard.press('v')
  await untilIn(page, 'shop', ['In the shop'])
  await page.reload()
  await live(page)
  await untilIn(page, 'blog', ['In the blog'])
  await page.getByRole('button', { name: 'Board' }).click()
  const column = page.getByRole('region', { name: 'Quiet' })
  await column.getByRole('link', { name: 'In the shop' }).waitFor()
  await page.reload()
  await column.getByRole('link', { name: 'In the blog' }).waitFor()
})

test('a decision is answered on the board, with the same keys', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const { approvalId } = await asking(client, daemon, { title: 'Asks', command: 'make it' })
  await signIn(page, client)
  await untilIn(page, 'Needs you', ['Asks'])
  await page.keyboard.press('b')
  await page.getByRole('region', { name: 'Needs you' }).getByRole('link', { name: 'Asks' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  await page
    .getByRole('region', { name: 'Peek at Asks' })
    .locator('[data-answer="1"]:not([aria-disabled="true"])')
    .waitFor()
  await page.keyboard.press('1')
  assert.deepEqual(await decided(client, approvalId), { behavior: 'allow', by: 'dashboard' })
  const done = page.getByRole('region', { name: 'Done since you looked' })
  await done.getByRole('link', { name: 'Asks' }).waitFor()
})

test('several sessions are selected and put away together', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  for (const title of ['One', 'Two', 'Three']) await ended(client, daemon, title)
  // As long as it can be undone.
  await heldMoments(page, 8000)
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Three', 'Two', 'One'])
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key)
  const bar = page.getByRole('toolbar', { name: 'Selected sessions' })
  await bar.getByText('2 selected').waitFor()
  await page.keyboard.press('a')
  await untilIn(page, 'Done since you looked', ['One'])
  await until(
    async () => (await client.call('session.list', { archived: true })).sessions.length === 2,
    'two are archived',
  )
  await page.getByRole('button', { name: 'Undo' }).click()
  await untilIn(page, 'Done since you looked', ['Three', 'Two', 'One'])
  assert.equal(await bar.count(), 0)
})

/** Keys that come before the page has drawn what the one before has changed. */
function hastily(page: Page, keys: readonly string[]): Promise<void> {
  return page.evaluate(async (all) => {
    for (const key of all) {
      document.activeElement!.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }),
      )
      // As long as the work behind a key takes, and no frame.
      for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    }
  }, keys)
}

test('keys that come faster than the page is drawn are for what they were meant for', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  for (const title of ['One', 'Two', 'Three']) await ended(client, daemon, title)
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Three', 'Two', 'One'])
  await hastily(page, ['j', 'x', 'j', 'x'])
  await page.getByText('2 selected').waitFor()
  // The second one is for the dialog that the first one opens.
  await hastily(page, ['z', '1'])
  await until(async () => (await titlesIn(page, 'Snoozed')).toSorted().join() === 'Three,Two', 'both snooze')
  // What is ticked first is not forgotten by what is ticked next.
  await client.call('session.mark', { sessionId: await idOf('Three'), flags: ['a', 'b'] })
  await page.getByRole('link', { name: 'One' }).focus()
  await page.keyboard.press('f')
  await page.getByRole('dialog').getByRole('checkbox', { name: 'b' }).waitFor()
  await page.getByRole('dialog').evaluate(async (dialog) => {
    for (const box of dialog.querySelectorAll<HTMLElement>('input[type="checkbox"]')) {
      box.click()
      for (let turns = 0; turns < 20; turns++) await Promise.resolve()
    }
  })
  const one = await idOf('One')
  const flags = async () => (await client.call('session.get', { sessionId: one })).marks.flags.join()
  await until(async () => (await flags()) === 'a,b', 'it has both')

  async function idOf(title: string): Promise<string> {
    return (await client.call('session.list', {})).sessions.find((one) => one.title === title)!.id
  }
})

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>\u202e'

test('hostile titles, commands and lines are only text, everywhere', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  page.on('dialog', () => assert.fail('a script has run'))
  await asking(client, daemon, { title: `Asks ${HOSTILE}`, command: `echo "${HOSTILE}"` })
  await ended(
    client,
    daemon,
    `Ended ${HOSTILE}`,
    `[[say ${HOSTILE} \u001b]8;;https://example.com\u0007link]]`,
  )
  await signIn(page, client)
  await page.getByText('Asks: echo').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Space')
  await page.locator('.peek [data-answer="1"]:not([aria-disabled="true"])').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: /Asks/ }).first().waitFor()
  await inert()
  await visit(page, `${originOf(daemon)}/inbox`)
  await page.locator('[data-answer="1"]:not([aria-disabled="true"])').waitFor()
  await inert()

  async function inert(): Promise<void> {
    const found = await page.evaluate(() => ({
      images: document.querySelectorAll('img[src="x"]').length,
      scripts: [...document.scripts].filter((script) => script.textContent.includes('alert')).length,
      turned: document.body.innerText.includes('\u202e') || document.body.innerText.includes('\u001b'),
    }))
    assert.deepEqual(found, { images: 0, scripts: 0, turned: false })
  }
})

test('pictures go with the first message', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  await signIn(page, client)
  await page.keyboard.press('n')
  const dialog = await newSession(page)
  await dialog.getByLabel('Directory').fill(daemon.project)
  await dialog.getByText('Not in a git repository.').waitFor()
  await dialog.getByLabel('First message').fill('[[attachments]]')
  const files = dialog.getByLabel('Add pictures')
  await files.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') })
  await dialog.getByText('a.txt is no picture that an agent can see').waitFor()
  await files.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(70) })
  await dialog.getByRole('img', { name: 'a.png' }).waitFor()
  await quiet(page)
  await dialog.getByRole('button', { name: 'Start', exact: true }).click()
  await page.waitForURL('**/s/*')
  const sessionId = decodeURIComponent(new URL(page.url()).pathname.slice('/s/'.length))
  await until(async () => {
    const { turns } = await client.call('turn.list', { sessionId })
    return turns[0]?.text === 'attachments: 1 image/png/70'
  }, 'the agent has the picture')
})

test('flags are set from the list, seen there, and found', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const page = await (await browserFor(t, daemon)).page()
  const ids = [await ended(client, daemon, 'First'), await ended(client, daemon, 'Second')]
  const flagsOf = async (at: number) =>
    (await client.call('session.get', { sessionId: ids[at]! })).marks.flags.join()
  await client.call('session.mark', { sessionId: ids[1]!, flags: ['urgent', '<img src=x> \u202e'] })
  await signIn(page, client)
  await untilIn(page, 'Done since you looked', ['Second', 'First'])
  const row = (title: string) => page.locator('.session-row', { hasText: title })
  assert.deepEqual(await row('Second').locator('.flag').allTextContents(), ['urgent', '<img src=x> ⟨U+202E⟩'])
  await page.getByRole('button', { name: 'More for First' }).click()
  await page.getByRole('menuitem', { name: 'Flags…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Flags of First' })
  await dialog.getByRole('checkbox', { name: 'urgent' }).check()
  await until(async () => (await flagsOf(0)) === 'urgent', 'it has the flag of the other one')
  await dialog.getByLabel('New flag').fill('for Ada')
  await page.keyboard.press('Enter')
  await until(async () => (await flagsOf(0)) === 'urgent,for Ada', 'it has a new one')
  await dialog.getByRole('checkbox', { name: 'for Ada' }).waitFor()
  await accessible(page)
  await dialog.getByRole('checkbox', { name: 'urgent' }).uncheck()
  await until(async () => (await flagsOf(0)) === 'for Ada', 'one is taken off')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await until(async () => (await row('First').locator('.flag').allTextContents()).join() === 'for Ada')
  await page.keyboard.press('/')
  await page.keyboard.type('for ada')
  await untilIn(page, 'Done since you looked', ['First'])
  await page.locator('.session-row-title').first().focus()
  await page.keyboard.press('f')
  await dialog.waitFor()
})

test('a card of the board has its whole title, and its time on one line', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const viewport = { width: 1280, height: 800 }
  const page = await (await browserFor(t, daemon, { viewport })).page()
  const cwd = join(daemon.home, 'where-everything-is-kept-that-is-sold')
  mkdirSync(cwd)
  await client.call('session.create', { agent: 'demo', cwd, title: 'Retry webhooks with a backoff' })
  await signIn(page, client)
  await untilIn(page, 'Quiet', ['Retry webhooks with a backoff'])
  await page.keyboard.press('b')
  const card = page.locator('.board-card')
  await card.waitFor()
  const name = card.locator('.session-row-name')
  assert.ok(
    await name.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth),
    'it is not cut',
  )
  const lines = await card.locator('time').evaluate((time) => {
    const range = document.createRange()
    range.selectNodeContents(time)
    return range.getClientRects().length
  })
  assert.equal(lines, 1)
})
