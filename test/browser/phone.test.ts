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

/** Where the screen has a notch and a line to swipe from. */
async function withEdges(page: Page, insets: Record<string, number>): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('Emulation.setSafeAreaInsetsOverride', { insets })
}

test(
  'nothing lies below the edges of the screen, and nothing keeps away from them twice',
  options,
  async (t) => {
    const { page, client, daemon } = await opened(t, ON_A_PHONE)
    await withKeyboard(page)
    await withEdges(page, { top: 47, bottom: 34 })
    const session = await demoSession(client, daemon)
    await openPage(page, daemon, session.id)
    const boxOf = async (selector: string) => (await page.locator(selector).last().boundingBox())!
    /** It stands above that line, and near it. */
    const isAbove = async (edge: number): Promise<boolean> => {
      const bottom = await lowerEdge(page, '.composer')
      return bottom <= edge && bottom > edge - 20
    }
    const end = PHONE.height - 34
    const header = await boxOf('main h1')
    assert.ok(header.y >= 47, `the title begins at ${header.y}`)
    const tab = await boxOf('.tabs .tab')
    assert.ok(tab.y + tab.height <= end, `the tabs end at ${tab.y + tab.height}`)
    const { y: tabs } = await boxOf('.tabs')
    await until(() => isAbove(tabs), 'the composer stands on the tabs')
    await page.getByRole('textbox', { name: 'Message' }).tap()
    await until(() => isAbove(end), 'without the tabs it keeps away from the edge itself')
    await keyboard(page, KEYBOARD)
    await until(() => isAbove(PHONE.height - KEYBOARD), 'it stands on the keyboard')
  },
)

test('a phone on its side: the notch takes nothing from the sidebar', options, async (t) => {
  const viewport = { width: PHONE.height, height: PHONE.width }
  const { page, go } = await opened(t, { ...ON_A_PHONE, viewport })
  await go('/')
  const find = page.getByRole('button', { name: 'Find or do' })
  const before = (await find.boundingBox())!
  await withEdges(page, { left: 47, right: 47, bottom: 21 })
  await until(async () => (await find.boundingBox())!.x === before.x + 47, 'it is beside the notch')
  const after = (await find.boundingBox())!
  assert.deepEqual([after.width, after.height], [before.width, before.height])
})
