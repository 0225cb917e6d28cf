import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { demoSession, shape, startClient, turn, type Client, type Sent } from './support.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const DATA_URL = `data:image/png;base64,${PIXEL.toString('base64')}`
const LIMIT = 8 * 1024 ** 2

let daemon: TestDaemon
let client: Client

before(async () => {
  daemon = await startDaemon()
  client = startClient(daemon)
  for (const name of ['pixel.png', 'photo.JPG', 'a b.webp', 'text.txt', 'none.png']) {
    writeFileSync(join(daemon.project, name), name === 'none.png' ? '' : PIXEL)
  }
  mkdirSync(join(daemon.project, 'folder.png'))
  writeFileSync(join(daemon.home, 'home.gif'), PIXEL)
  writeFileSync(join(daemon.project, 'large.png'), Buffer.alloc(LIMIT + 1))
  writeFileSync(join(daemon.project, 'most.png'), Buffer.alloc(LIMIT))
})

after(async () => {
  await client.close()
  await daemon.stop()
})

async function sent(images: unknown, text = '[[attachments]]') {
  const sessionId = await demoSession(client)
  await turn(client, sessionId, text, { images })
  const { messages } = await client.state(sessionId)
  return { user: messages[0]!, answer: messages.at(-1)!.text }
}

describe('an image', () => {
  test('comes as a data URL, with a name of its own', async () => {
    const { user, answer } = await sent([{ data_url: DATA_URL }])
    assert.equal(answer, `attachments: 1 image/png/${PIXEL.length}`)
    assert.equal(user.text, '[[attachments]] [Image 1]')
    const [image] = user.images!
    assert.match(image!.path, /^rpc-image-\d+\.png$/)
    assert.deepEqual(
      [image!.mimeType, image!.dataUrl, image!.byteSize],
      ['image/png', DATA_URL, PIXEL.length],
    )
  })

  test('comes from a file, however it is named', async () => {
    const { user, answer } = await sent([
      { path: 'pixel.png' },
      { path: join(daemon.project, 'photo.JPG') },
      { path: '~/home.gif' },
      { path: pathToFileURL(join(daemon.project, 'a b.webp')).href },
      { path: '"a b.webp"' },
      { path: 'text.txt', mime_type: 'image/png' },
    ])
    const types = ['png', 'jpeg', 'gif', 'webp', 'webp', 'png']
    assert.equal(answer, `attachments: 6${types.map((type) => ` image/${type}/${PIXEL.length}`).join('')}`)
    assert.equal(user.images![0]!.path, 'pixel.png')
  })

  test('has other spellings, and data goes before a file', async () => {
    const { answer } = await sent([
      { dataUrl: DATA_URL, path: 'no-such.png' },
      { dataUrl: `data:;base64,${PIXEL.toString('base64')}`, mimeType: 'image/webp' },
      {},
      { path: ' ' },
    ])
    assert.equal(answer, `attachments: 2 image/png/${PIXEL.length} image/webp/${PIXEL.length}`)
  })

  test('is marked in the text where it is not yet, and may come without one', async () => {
    const { user } = await sent(
      [{ data_url: DATA_URL }, { data_url: DATA_URL }],
      'look at [Image 1] [[say ok]]',
    )
    assert.equal(user.text, 'look at [Image 1] [[say ok]] [Image 2]')
    assert.equal((await sent([{ data_url: DATA_URL }], '')).user.text, '[Image 1]')
  })

  test('is one of so many that the daemon would not take them: an error, and all goes on', async () => {
    const sessionId = await demoSession(client)
    for (const [images, why] of [
      [Array.from({ length: 3 }, () => ({ path: 'most.png' })), /30 MiB/],
      [Array.from({ length: 100 }, () => ({ path: 'pixel.png' })), /at most 99/],
    ] as const) {
      const from = client.lines.length
      await client.call('session.send', { session_id: sessionId, text: 'look', images })
      assert.match((await client.event('session.error', () => true, from)).payload.message, why)
    }
    await turn(client, sessionId, 'and on')
  })

  for (const [what, image, why] of [
    ['is not there', { path: 'no-such.png' }, /no image no-such/],
    ['is a directory', { path: 'folder.png' }, /no image folder/],
    ['is none', { path: 'text.txt' }, /png, jpg/],
    ['is empty', { path: 'none.png' }, /empty/],
    ['is too large', { path: 'large.png' }, /8 MiB/],
    [
      'is too large as data',
      { data_url: `data:image/png;base64,${'A'.repeat((LIMIT / 3) * 4 + 8)}` },
      /8 MiB/,
    ],
    ['is no data URL', { data_url: 'http://example.com/a.png' }, /data URL/],
    ['is data of another kind', { data_url: 'data:image/svg+xml;base64,PHN2Zz4=' }, /png, jpg/],
    ['has a kind that objects have', { data_url: DATA_URL.replace('png', 'constructor') }, /png, jpg/],
    ['is mostly blanks', { data_url: `${DATA_URL}${' '.repeat(1_000_000)}!` }, /data URL/],
  ] as const) {
    test(`that ${what} is accepted, and an error follows as an event`, async () => {
      const sessionId = await demoSession(client)
      const from = client.lines.length
      const answer = await client.call<Sent>('session.send', {
        session_id: sessionId,
        text: 'look',
        images: [image],
      })
      assert.equal(answer.accepted, true)
      const lines = await until(() => {
        const found = client.lines.slice(from)
        return found.some(({ result }) => result) ? found : null
      }, 'the end')
      assert.deepEqual(shape(lines), ['preparing...', 'system', 'error', 'ready', '='])
      const failed = lines.find(({ params }) => params?.type === 'session.error')!.params!.payload
      assert.equal(failed.turn_id, answer.turn_id)
      assert.match(failed.message, why)
    })
  }
})
