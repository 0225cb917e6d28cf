import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { connect, type NativeClient } from '../../src/client/client.ts'
import { DESK, noChromium, openChromium, PHONE } from '../../test/support/chromium.ts'
import { startDaemon, type TestDaemon } from '../../test/support/daemon.ts'
import { makeScene } from '../../test/support/scene.ts'
import { areAlike, smaller } from './png.ts'

const PICTURES = join(import.meta.dirname, '../../docs/pictures')

/** Larger than that and a page of documentation takes too long to load. */
const MAX_BYTES = 200_000

type Ids = Record<string, string>

type Screen = 'desk' | 'phone'

interface Shot {
  name: string
  on: readonly Screen[]
  path(ids: Ids): string
  /** What must be seen before the picture is taken. */
  shows: string
  then?(page: Page): Promise<void>
}

const SHOTS: readonly Shot[] = [
  { name: 'now', on: ['desk'], path: () => '/', shows: 'Retry webhooks with backoff' },
  { name: 'inbox', on: ['phone'], path: () => '/inbox', shows: 'npm test -- webhooks' },
  {
    name: 'session',
    on: ['desk', 'phone'],
    path: ({ retry }) => `/s/${retry}`,
    shows: 'npm test -- webhooks',
  },
  { name: 'changes', on: ['desk'], path: ({ retry }) => `/s/${retry}/changes`, shows: 'deliver.ts' },
]

const SCREENS: readonly [name: Screen, look: BrowserContextOptions][] = [
  ['desk', { viewport: { width: 1280, height: 800 } }],
  ['phone', { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true }],
]

/** Takes every picture of docs/pictures anew, from agents that play the same day each time. One that shows the same as before stays. */
export async function takePictures(): Promise<void> {
  if (noChromium) return console.log(`The pictures stay as they are: ${noChromium}`)
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
          screen,
          colorScheme,
          look,
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
  screen: Screen
  colorScheme: 'light' | 'dark'
  look: BrowserContextOptions
}

async function takeAll({ daemon, client, ids, screen, colorScheme, look }: Sitting): Promise<void> {
  const how = { viewport: DESK, reducedMotion: 'reduce', colorScheme, ...look } as const
  const { context, close } = await openChromium(how)
  try {
    const page = await context.newPage()
    await page.goto((await client.call('door.code')).url)
    await page.locator('[data-status="live"]').first().waitFor({ state: 'attached' })
    const { origin } = new URL(daemon.listeners['corral']!)
    for (const shot of SHOTS.filter(({ on }) => on.includes(screen))) {
      await page.goto(`${origin}${shot.path(ids)}`)
      await page.getByText(shot.shows).first().waitFor()
      await page.waitForLoadState('networkidle')
      await shot.then?.(page)
      const bytes = smaller(await page.screenshot({ animations: 'disabled', caret: 'hide' }))
      keep(`${shot.name}-${screen}-${colorScheme}.png`, bytes)
    }
  } finally {
    await close()
  }
}

function keep(name: string, bytes: Buffer): void {
  if (bytes.length > MAX_BYTES) throw new Error(`${name} has ${bytes.length} bytes`)
  const file = join(PICTURES, name)
  if (!existsSync(file) || !areAlike(readFileSync(file), bytes)) writeFileSync(file, bytes)
}
