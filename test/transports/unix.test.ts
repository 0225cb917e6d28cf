import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { test, type TestContext } from 'node:test'
import {
  listenUnix,
  UnixSocketError,
  type LineConnection,
  type LineHandler,
  type UnixOptions,
} from '../../src/transports/unix.ts'
import { until } from '../support/wait.ts'

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'corral-unix-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const echo = (connection: LineConnection): LineHandler => ({
  line: (line) => void connection.send(line.toString()),
})

async function listen(t: TestContext, options: Partial<UnixOptions> = {}) {
  const path = options.path ?? join(directory(t), 'home', 'c.sock')
  const listener = await listenUnix({ accept: echo, ...options, path })
  t.after(() => listener.close())
  return listener
}

async function open(t: TestContext, path: string): Promise<Socket> {
  const socket = createConnection(path)
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Everything up to the given number of lines, or to the end. */
async function read(socket: Socket, lines = Infinity): Promise<string[]> {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.split('\n').length > lines) break
  }
  return text.split('\n').slice(0, -1)
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

test('the directory is private and so is the socket, whatever the umask', async (t) => {
  const before = process.umask(0)
  t.after(() => process.umask(before))
  const { path } = await listen(t)
  assert.equal(mode(path), '600')
  assert.equal(mode(join(path, '..')), '700')
  assert.equal(process.umask(), 0)
})

test('a directory that was open to others is made private, unless told to leave it', async (t) => {
  for (const [privateDirectory, expected] of [
    [true, '700'],
    [false, '755'],
  ] as const) {
    const home = join(directory(t), 'home')
    mkdirSync(home)
    chmodSync(home, 0o755)
    await listen(t, { path: join(home, 'c.sock'), privateDirectory })
    assert.equal(mode(home), expected)
  }
})

test('a socket that was deleted is made again, and connections that are open stay', async (t) => {
  const { path } = await listen(t, { lookMs: 20 })
  const early = await open(t, path)
  for (let round = 0; round < 3; round++) {
    rmSync(path)
    await until(() => existsSync(path), 'the socket is there again')
    assert.equal(mode(path), '600')
    const late = await open(t, path)
    for (const socket of [early, late]) {
      socket.write('there?\n')
      assert.deepEqual((await once(socket, 'data')).map(String), ['there?\n'])
    }
  }
})

test('a listener whose socket was deleted closes connections of before and after', async (t) => {
  const { path, close } = await listen(t, { lookMs: 20 })
  const early = await open(t, path)
  rmSync(path)
  await until(() => existsSync(path), 'the socket is there again')
  const late = await open(t, path)
  const ends = [early, late].map((socket) => once(socket.resume(), 'close'))
  await close()
  await Promise.all(ends)
  assert.equal(existsSync(path), false)
})

test('a shared directory such as /tmp is left as it is', async (t) => {
  const shared = join(directory(t), 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  await listen(t, { path: join(shared, 'c.sock') })
  assert.equal(mode(shared), '777')
})

test('a socket that nobody answers on is replaced', async (t) => {
  const path = join(directory(t), 'c.sock')
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  assert.ok(existsSync(path))
  await listen(t, { path })
  const socket = await open(t, path)
  socket.write('hello\n')
  assert.deepEqual(await read(socket, 1), ['hello'])
})

test('a socket that somebody answers on is respected', async (t) => {
  const { path } = await listen(t)
  await assert.rejects(listenUnix({ path, accept: echo }), (error: unknown) => {
    assert.ok(error instanceof UnixSocketError)
    assert.equal(error.code, 'in_use')
    assert.match(error.message, /another process is listening on /)
    return true
  })
  const socket = await open(t, path)
  socket.write('still here\n')
  assert.deepEqual(await read(socket, 1), ['still here'])
})

test('a file that is not a socket is not removed', async (t) => {
  const path = join(directory(t), 'c.sock')
  writeFileSync(path, 'precious')
  await assert.rejects(listenUnix({ path, accept: echo }), { code: 'not_a_socket' })
  assert.ok(existsSync(path))
})

test('a path that is too long is refused in so many words', async (t) => {
  const path = join(directory(t), 'x'.repeat(100), 'c.sock')
  await assert.rejects(
    listenUnix({ path, accept: echo }),
    /bytes, the system allows 107: choose a shorter one/,
  )
})

test('lines are split at LF only and survive being torn apart anywhere', async (t) => {
  const { path } = await listen(t)
  const socket = await open(t, path)
  const bytes = Buffer.from('a\u2028b\r\n\n\r\n{"é":"ü"}\n')
  for (const byte of bytes) socket.write(Buffer.of(byte))
  assert.deepEqual(await read(socket, 2), ['a\u2028b\r', '{"é":"ü"}'])
})

test('a line beyond the limit is answered, then the connection closes; others go on', async (t) => {
  const { path } = await listen(t, {
    lineLimit: 1000,
    accept: (connection) => ({
      line: (line) => void connection.send(line.toString()),
      oversize: (limit) => void connection.send(`limit ${limit}`),
    }),
  })
  const other = await open(t, path)
  const socket = await open(t, path)
  socket.write('x'.repeat(5000))
  assert.deepEqual(await read(socket), ['limit 1000'])
  other.write('fine\n')
  assert.deepEqual(await read(other, 1), ['fine'])
})

test('what one tick brings goes out as one write', async (t) => {
  const { path } = await listen(t, {
    accept: (connection) => ({
      line() {
        for (let index = 0; index < 100; index++) connection.send(`line ${index}`)
      },
    }),
  })
  const socket = await open(t, path)
  socket.write('go\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  assert.equal(chunk.toString().split('\n').length, 101)
})

test('a slow reader makes send false, is not read from, and is told when there is room', async (t) => {
  let connection: LineConnection | null = null
  const lines: string[] = []
  const heard = Promise.withResolvers<void>()
  const drained = Promise.withResolvers<void>()
  const accepted = Promise.withResolvers<void>()
  const { path } = await listen(t, {
    sendLimit: 64 * 1024,
    accept(opened) {
      connection ??= opened
      accepted.resolve()
      return {
        line(line) {
          lines.push(line.toString())
          heard.resolve()
        },
        drain: drained.resolve,
      }
    },
  })
  const socket = await open(t, path)
  socket.pause()
  await accepted.promise
  let sent = 0
  while (connection!.send('x'.repeat(10_000))) {
    sent += 1
    assert.ok(sent < 10_000, 'send never said stop')
    if (sent % 5 === 0) await new Promise(setImmediate)
  }
  socket.write('unread\n')
  const other = await open(t, path)
  other.write('read\n')
  await heard.promise
  assert.deepEqual(lines, ['read'])
  const all = read(socket, sent + 1)
  await drained.promise
  assert.equal(connection!.send('after'), true)
  assert.equal((await all).length >= sent + 1, true)
})

test('answers still go out to a peer that has finished sending', async (t) => {
  const { path } = await listen(t, {
    accept: (connection) => ({
      line: (line) =>
        void setImmediate(() => {
          connection.send(`late ${line.toString()}`)
          connection.close()
        }),
      ended() {},
    }),
  })
  const socket = createConnection({ path, allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.end('question')
  assert.deepEqual(await read(socket), ['late question'])
})

test('the handler hears when its peer is gone', async (t) => {
  const closed = Promise.withResolvers<void>()
  const listener = await listen(t, { accept: () => ({ line() {}, closed: closed.resolve }) })
  const socket = await open(t, listener.path)
  socket.destroy()
  await closed.promise
  assert.equal(listener.connections, 0)
})

test('closing sends what is queued, ends every connection and removes the socket', async (t) => {
  const path = join(directory(t), 'c.sock')
  const connections: LineConnection[] = []
  const ready = Promise.withResolvers<void>()
  const listener = await listenUnix({
    path,
    accept(connection) {
      connections.push(connection)
      ready.resolve()
      return { line() {} }
    },
  })
  const socket = await open(t, path)
  await ready.promise
  connections[0]!.send('goodbye')
  const received = read(socket)
  await listener.close()
  assert.deepEqual(await received, ['goodbye'])
  assert.equal(existsSync(path), false)
})

test('a pause holds from the next line on, also within what has come already; then all come in order', async (t) => {
  const seen: string[] = []
  let connection: LineConnection | null = null
  const heard = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const { path } = await listen(t, {
    accept(opened) {
      connection = opened
      return {
        line(line) {
          seen.push(line.toString())
          opened.pause()
          heard.resolve()
        },
        ended: () => {
          seen.push('end')
          ended.resolve()
        },
      }
    },
  })
  const socket = await open(t, path)
  socket.end('one\ntwo\nthree\nfour')
  await heard.promise
  for (const expected of [['one'], ['one', 'two'], ['one', 'two', 'three']]) {
    await new Promise(setImmediate)
    assert.deepEqual(seen, expected)
    connection!.resume()
  }
  await until(() => seen.length === 4)
  connection!.resume()
  await ended.promise
  assert.deepEqual(seen, ['one', 'two', 'three', 'four', 'end'])
})

const elsewhere = process.platform !== 'linux' && 'only Linux lets so many wait'
test('a thousand clients may come at once', { skip: elsewhere }, async (t) => {
  const { path } = await listen(t)
  const sockets = Array.from({ length: 1000 }, () => createConnection(path))
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
})
