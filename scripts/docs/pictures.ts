import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { connect, type NativeClient } from '../../src/dialects/native/client.ts'
import { DESK, noChromium, openChromium, PHONE } from '../../test/support/chromium.ts'
import { startDaemon, type TestDaemon } from '../../test/support/daemon.ts'
import { makeScene } from '../../test/support/scene.ts'
import { smaller } from './png.ts'

const PICTURES = join(import.meta.dirname, '../../docs/pictures')

/** Larger than that and a page of documentation takes too long to load. */
const MAX_BYTES = 200_000

type Ids = Record<string, string>

interface Shot {
  name: string
  path(ids: Ids): string
  /** What must be seen before the picture is taken. */
  shows: string
  then?(page: Page): Promise<void>
}

const SHOTS: readonly Shot[] = [
  { name: 'now', path: () => '/', shows: 'Retry webhooks with backoff' },
  { name: 'inbox', path: () => '/inbox', shows: 'npm test -- webhooks' },
  { name: 'session', path: ({ retry }) => `/s/${retry}`, shows: 'npm test -- webhooks' },
  { name: 'changes', path: ({ retry }) => `/s/${retry}/changes`, shows: 'deliver.ts' },
]

const SCREENS: readonly [name: string, look: BrowserContextOptions][] = [
  ['desk', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
]

/** Takes every picture of docs/pictures anew, from agents that play the same day each time. */
export async function takePictures(): Promise<void> {
  if (noChromium) throw new Error(noChromium)
  const scene = await makeScene()
  const daemon = await startDaemon({ home: scene.home, env: scene.env })
  const client = await connect(daemon.socket)
  try {
    const ids = await scene.begin(client)
    mkdirSync(PICTURES, { recursive: true })
    for (const colorScheme of ['light', 'dark'] as const)
      for (const [screen, look] of SCREENS)
        await takeAll({
          daemon,
          client,
          ids,
          name: `${screen}-${colorScheme}`,
          look: { ...look, colorScheme },
        })
  } finally {
    client.close()
    await daemon.stop()
  }
}

interface Sitting {
  daemon: TestDaemon
  client: NativeClient
  ids: Ids
  name: string
  look: BrowserContextOptions
}

async function takeAll({ daemon, client, ids, name, look }: Sitting): Promise<void> {
  const { context, close } = await openChromium({ viewport: DESK, reducedMotion: 'reduce', ...look })
  try {
    const page = await context.newPage()
    await page.goto((await client.call('door.code')).url)
    await page.locator('[data-status="live"]').first().waitFor({ state: 'attached' })
    const { origin } = new URL(daemon.listeners['corral']!)
    for (const shot of SHOTS) {
      await page.goto(`${origin}${shot.path(ids)}`)
      await page.getByText(shot.shows).first().waitFor()
      await page.waitForLoadState('networkidle')
      await shot.then?.(page)
      const bytes = smaller(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
      if (bytes.length > MAX_BYTES) throw new Error(`${shot.name}-${name} has ${bytes.length} bytes`)
      writeFileSync(join(PICTURES, `${shot.name}-${name}.png`), bytes)
    }
  } finally {
    await close()
  }
}
