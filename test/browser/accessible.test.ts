import { test } from 'node:test'
import {
  accessible,
  browserFor,
  daemonFor,
  DESK,
  nativeFor,
  originOf,
  PHONE,
  signIn,
  visit,
  withoutBrowser,
} from './support.ts'

const PAGES = ['/', '/inbox', '/search', '/relay', '/system', '/devices', '/settings', '/welcome']

for (const colorScheme of ['light', 'dark'] as const) {
  test(`every page can be used by everybody, ${colorScheme}`, { skip: withoutBrowser }, async (t) => {
    const daemon = await daemonFor(t)
    const client = await nativeFor(t, daemon)
    const browser = await browserFor(t, daemon, { colorScheme })
    const page = await browser.page()
    await page.goto(originOf(daemon))
    await page.getByLabel('Token or PIN').waitFor()
    await accessible(page)
    await signIn(page, client)
    for (const viewport of [DESK, PHONE]) {
      await page.setViewportSize(viewport)
      for (const path of PAGES) {
        await visit(page, originOf(daemon) + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await accessible(page)
      }
    }
  })
}
