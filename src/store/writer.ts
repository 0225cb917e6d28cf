import { parentPort, workerData } from 'node:worker_threads'
import { openForWriting, type WriterRequest } from './writing.ts'

/*
 * The thread that writes while there is much to write. It answers every request, in order; its first message says that it
 * is ready.
 */
const { path, checkpointPages } = workerData as { path: string; checkpointPages: number }
const writing = openForWriting(path, checkpointPages)

parentPort!.on('message', (request: WriterRequest | 'close') => {
  if (request !== 'close') return parentPort!.postMessage(writing.serve(request))
  writing.close()
  parentPort!.close()
})
parentPort!.postMessage('ready')
