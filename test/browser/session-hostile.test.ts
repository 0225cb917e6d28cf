import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/wait.ts'
import { HOSTILE } from '../web/hostile.ts'
import { base64, demoSession, ended, openPage } from './session-support.ts'
import { accessible, browserFor, daemonFor, live, nativeFor, signIn, withoutBrowser } from './support.ts'

const options = { skip: withoutBrowser }

/** Elements that a page of ours has none of, wherever text of an agent stands. */
const FOREIGN =
  'script, iframe, object, embed, form, style, link, meta, base, video, audio, svg a, math, [onerror], [onload]'

test('nothing that an agent says runs, loads or becomes part of the page', options, async (t) => {
  const daemon = await daemonFor(t)
  const client = await nativeFor(t, daemon)
  const browser = await browserFor(t, daemon)
  const page = await browser.page()
  await page.addInitScript(() => {
    const note = (): void => void ((window as unknown as { ran: boolean }).ran = true)
    window.alert = note
    window.confirm = () => (note(), true)
    window.open = () => (note(), null)
  })
  await signIn(page, client)
  const { id } = await demoSession(client, daemon)
  await openPage(page, daemon, id)
  // As one message each, streamed in pieces; as what a tool wrote; as the person's own words.
  const script = HOSTILE.filter((text) => text.length < 2000)
  for (const text of script) {
    const sent = await client.call('session.send', { sessionId: id, content: `[[say64 ${base64(text)}]]` })
    await ended(client, sent.turnId)
  }
  await client.call('session.send', { sessionId: id, content: HOSTILE.join('\n\n').slice(0, 60_000) })
  await until(
    async () => (await client.call('session.get', { sessionId: id })).turnCount === script.length + 1,
  )
  await page.reload()
  await live(page)
  await page.locator('.entry').first().waitFor()
  for (let step = 0; step < 30; step++) {
    assert.equal(await page.locator('.conversation').locator(FOREIGN).count(), 0)
    const links = await page
      .locator('.conversation a')
      .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href))
    for (const href of links) assert.match(href, /^(?:https?|mailto):/)
    const pictures = await page.locator('.conversation img').count()
    assert.equal(pictures, 0)
    await page.locator('.timeline-scroller').evaluate((one) => void (one.scrollTop -= one.clientHeight * 0.8))
  }
  assert.equal(await page.evaluate(() => (window as unknown as { ran?: boolean }).ran), undefined)
})

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the page of a session is accessible in the ${colorScheme} theme`, options, async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const browser = await browserFor(t, daemon, { colorScheme })
    const page = await browser.page()
    await signIn(page, client)
    const { id } = await demoSession(client, daemon, 'ask')
    const text =
      '# A heading\n\n- [x] done\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```ts\nconst a = 1 // one\n```'
    const said = await client.call('session.send', {
      sessionId: id,
      content: `[[think hm]] [[say64 ${base64(text)}]]`,
    })
    await ended(client, said.turnId)
    await client.call('session.send', { sessionId: id, content: '[[shell make]]' })
    await client.call('session.send', { sessionId: id, content: 'later' })
    await openPage(page, daemon, id)
    await page.locator('.decision').waitFor()
    await page.locator('.queue-item').waitFor()
    await page.locator('.hl-keyword').waitFor()
    await accessible(page)
  })
}
