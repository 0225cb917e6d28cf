/** Serves the page beside it, and the client for it: `node page/serve.ts`, with `PORT` */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** With a bundler this is not needed: it finds the file for browsers by itself. */
const client = new URL('browser.js', import.meta.resolve('corral/client'))
const files: Record<string, { type: string; url: URL }> = {
  '/': { type: 'text/html', url: new URL('index.html', import.meta.url) },
  '/client.js': { type: 'text/javascript', url: client },
}

const server = createServer((request, response) => {
  const file = files[request.url ?? '']
  if (!file) return void response.writeHead(404).end()
  response.writeHead(200, { 'content-type': file.type }).end(readFileSync(file.url))
})
server.listen(Number(process.env['PORT'] ?? 8080), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
process.once('SIGINT', () => server.close())
