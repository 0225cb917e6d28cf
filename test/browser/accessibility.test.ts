import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { NativeClient } from '../../src/client/client.ts'
import { makeScene } from '../support/scene.ts'
import {
  barriers,
  browserFor,
  daemonFor,
  DESK,
  quiet,
  nativeFor,
  originOf,
  PHONE,
  signIn,
  visit as visitPage,
  withoutBrowser,
} from './support.ts'

const options = { skip: withoutBrowser }

/** A page, and what is done there before it is looked at. */
type Visit = [name: string, path: string, then?: (page: Page) => Promise<void>]

interface Opened {
  client: NativeClient
  ids: Record<string, string>
  page: Page
  origin: string
  visits: Visit[]
}

type Look = Parameters<typeof browserFor>[2]

async function open(t: TestContext, look: Look): Promise<Opened> {
  const scene = await makeScene()
  const daemon = await daemonFor(t, { home: scene.home, env: scene.env })
  const client = await nativeFor(t, daemon)
  const ids = await scene.begin(client)
  const browser = await browserFor(t, daemon, look)
  const page = await browser.page()
  await signIn(page, client)
  return { client, ids, page, origin: originOf(daemon), visits: visitsOf(ids) }
}

function visitsOf({ retry, audit, store, index, review }: Record<string, string>): Visit[] {
  return [
    ['now', '/'],
    ['the palette', '/', called('Control+k', '.palette [role="option"]')],
    ['the keys', '/', called('?', '.key-help')],
    ['inbox', '/inbox'],
    ['a session that asks', `/s/${retry}`],
    ['a session with a diff to decide about', `/s/${store}`],
    ['a session with a question', `/s/${audit}`],
    ['a session that streams', `/s/${index}`],
    ['a session with sub-agents', `/s/${review}`, unfolded],
    ['changes', `/s/${retry}/changes`],
    ['search', '/search', searched],
    ['relay', '/relay'],
    ['system', '/system'],
    ['devices', '/devices'],
    ['settings', '/settings'],
    ['welcome', '/welcome'],
    ['a page that is not there', '/s/nobody'],
  ]
}

/** What a key calls up is in front of the page. */
function called(key: string, shows: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.keyboard.press(key)
    await page.locator(shows).first().waitFor()
  }
}

async function searched(page: Page): Promise<void> {
  await page.getByLabel('What to look for').fill('webhooks')
  await page.locator('.found mark').first().waitFor()
}

/** One after the other: what is open is no longer among them. */
async function unfolded(page: Page): Promise<void> {
  const folded = page.locator('main .entry-line[aria-expanded="false"]')
  await folded.first().waitFor()
  while ((await folded.count()) > 0) {
    await folded.first().click()
    await quiet(page)
  }
}

/** Everything has come that comes by itself. */
async function go({ page, origin }: Opened, [, path, then]: Visit): Promise<void> {
  await visitPage(page, `${origin}${path}`)
  await then?.(page)
  await quiet(page)
}

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [screen, look] of [
    ['desk', { viewport: DESK }],
    ['phone', { viewport: PHONE, hasTouch: true, isMobile: true }],
  ] as const) {
    test(`everybody can use every page: ${colorScheme}, ${screen}`, options, async (t) => {
      const opened = await open(t, { ...look, colorScheme, reducedMotion: 'reduce' })
      const wrong: [name: string, barriers: string[]][] = []
      for (const visit of opened.visits) {
        await go(opened, visit)
        const found = await barriers(opened.page)
        if (await opened.page.evaluate(scrollsTwice)) found.push('the window scrolls, and the page in it')
        if (found.length > 0) wrong.push([visit[0], found])
      }
      assert.deepEqual(wrong, [])
    })
  }
}

/** The page scrolls within its frame; a second bar beside its own would lead to nothing. */
function scrollsTwice(): boolean {
  const { scrollHeight, clientHeight } = document.documentElement
  return scrollHeight > clientHeight
}

/** 1440 pixels at 200 %, the smallest window that must do without scrolling to the side, and a small phone. */
for (const [name, width, height] of [
  ['at 200 %', DESK.width / 2, DESK.height / 2],
  ['at 400 % of 1280 pixels', 320, 256],
] as const) {
  test(`no page has to be scrolled to the side ${name}`, options, async (t) => {
    const opened = await open(t, { viewport: { width, height }, reducedMotion: 'reduce' })
    const wide: [name: string, by: string[]][] = []
    for (const visit of opened.visits) {
      await go(opened, visit)
      const by = await opened.page.evaluate(tooWide)
      if (by.length > 0) wide.push([visit[0], by])
    }
    assert.deepEqual(wide, [])
  })
}

/** What sticks out of the window, if the page is wider than that; what scrolls by itself, as code does, may. */
function tooWide(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  const main = document.querySelector('main')
  const isWide = scrollWidth > clientWidth || (main !== null && main.scrollWidth > main.clientWidth)
  if (!isWide) return []
  const out = [...document.querySelectorAll('body *')].filter(
    (element) => element.getBoundingClientRect().right > clientWidth + 1,
  )
  return [
    `${scrollWidth} of ${clientWidth}`,
    ...out.slice(0, 5).map((element) => element.outerHTML.slice(0, 120)),
  ]
}

test('fingers hit what they aim at, on every page and on a queue', options, async (t) => {
  const look = { viewport: PHONE, hasTouch: true, isMobile: true, reducedMotion: 'reduce' } as const
  const opened = await open(t, look)
  const { client, ids, visits } = opened
  for (const content of ['then the docs', 'and the tests'])
    await client.call('session.send', { sessionId: ids['index']!, content })
  const queue: Visit = [
    'a queue',
    `/s/${ids['index']}`,
    (page) => page.getByRole('button', { name: 'What to do with it' }).nth(1).tap(),
  ]
  const small: [name: string, targets: string[]][] = []
  for (const visit of [...visits, queue]) {
    await go(opened, visit)
    const found = await opened.page.evaluate(tooSmall)
    if (found.length > 0) small.push([visit[0], found])
  }
  assert.deepEqual(small, [])
})

/** Targets that a finger misses within 44 pixels. The label of a box is part of it; a link in a sentence is as high as that. */
function tooSmall(): string[] {
  const root = document.querySelector('dialog[open]') ?? document
  const targets = [...root.querySelectorAll('a[href], button, input, select, textarea, summary')]
  return targets.flatMap((target) => {
    const whole = target.closest('label') ?? target
    const isInText = target.matches('p a, dd a, li a') && getComputedStyle(target).display === 'inline'
    if (isInText || !whole.checkVisibility({ visibilityProperty: true })) return []
    const { width, height } = whole.getBoundingClientRect()
    if ((width >= 43.5 && height >= 43.5) || width <= 1) return []
    // What is around it may belong to it.
    whole.scrollIntoView({ block: 'center' })
    const { left, top } = whole.getBoundingClientRect()
    const reach = (dx: number, dy: number): number => {
      let far = 1
      const isOurs = (): boolean =>
        whole.contains(
          document.elementFromPoint(left + width / 2 + dx * far, top + height / 2 + dy * far) ??
            document.body,
        )
      while (far < 44 && isOurs()) far++
      return far
    }
    const isHit = reach(-1, 0) + reach(1, 0) >= 44 && reach(0, -1) + reach(0, 1) >= 44
    return isHit ? [] : `${Math.round(width)}×${Math.round(height)} ${target.outerHTML.slice(0, 160)}`
  })
}
