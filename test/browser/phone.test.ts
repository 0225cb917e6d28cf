import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../support/wait.ts'
import { opened } from './opened.ts'
import { demoSession, drips, ended, openPage, saidOn } from './session-support.ts'
import { live, PHONE, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }
const ON_A_PHONE = { viewport: PHONE, hasTouch: true, isMobile: true }
const KEYBOARD = 320

/** A keyboard on the screen, as Safari on a phone tells of it: the window stays as high as it was, what is seen of it shrinks. */
async function withKeyboard(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen = Object.assign(new EventTarget(), { height: innerHeight, offsetTop: 0, scale: 1 })
    Object.defineProperty(window, 'visualViewport', { value: seen })
  })
}

async function keyboard(page: Page, height: number): Promise<void> {
  await page.evaluate((covered) => {
    Object.assign(visualViewport!, { height: innerHeight - covered })
    visualViewport!.dispatchEvent(new Event('resize'))
  }, height)
}

function lowerEdge(page: Page, selector: string): Promise<number> {
  return page
    .locator(selector)
    .last()
    .evaluate((element) => element.getBoundingClientRect().bottom)
}

test('the composer and the end of the conversation stay above the keyboard', options, async (t) => {
  const { page, client, daemon } = await opened(t, ON_A_PHONE)
  await withKeyboard(page)
  const session = await demoSession(client, daemon)
  const { turnId } = await client.call('session.send', { sessionId: session.id, content: '[[words 400]]' })
  await ended(client, turnId)
  await openPage(page, daemon, session.id)
  await page.locator('.entry[data-kind="end"]').waitFor()
  await page.getByRole('textbox', { name: 'Message' }).tap()
  await keyboard(page, KEYBOARD)
  const edge = PHONE.height - KEYBOARD
  await until(async () => (await lowerEdge(page, '.composer')) <= edge, 'the composer is above the keyboard')
  await until(
    async () => (await lowerEdge(page, '.entry[data-kind="end"]')) <= edge,
    'the end of the conversation is seen',
  )
  await keyboard(page, 0)
  await until(async () => (await lowerEdge(page, '.composer')) > edge, 'the composer is back at the bottom')
})

test('offline and back: the page says so, and then has everything once', options, async (t) => {
  const { page, client, daemon } = await opened(t, {
    ...ON_A_PHONE,
    expectedErrors: /ERR_INTERNET_DISCONNECTED|WebSocket|when fetching the script/,
  })
  const session = await demoSession(client, daemon)
  await openPage(page, daemon, session.id)
  const { turnId } = await client.call('session.send', { sessionId: session.id, content: '[[drip 60 20]]' })
  await until(async () => (await saidOn(page)).at(-1)?.includes('w5'), 'it streams')
  await page.context().setOffline(true)
  await page.getByText('Connection lost. ').waitFor()
  await ended(client, turnId)
  await page.context().setOffline(false)
  await live(page)
  await page.locator('.entry[data-kind="end"]').waitFor()
  assert.deepEqual(await saidOn(page), [drips(60)])
})
