/* Lines as Codex says them: conversation `T`, its turn `C1`, which is turn `t1` of session `s1`. */

export const OPENED = { id: 's1:open', result: { thread: { id: 'T', cliVersion: '9.9.9' }, model: 'm' } }
export const ACCEPTED = { id: 's1:turn:t1', result: { turn: { id: 'C1', status: 'inProgress' } } }
export const note = (method: string, params: object) => ({ method, params: { threadId: 'T', ...params } })
export const STARTED = note('turn/started', { turn: { id: 'C1' } })
export const ended = (status: string, more = {}) =>
  note('turn/completed', { turn: { id: 'C1', status, ...more } })
export const item = (stage: 'started' | 'completed', it: object, threadId = 'T') =>
  note(`item/${stage}`, { item: it, threadId, turnId: 'C1' })
export const COMMAND = { type: 'commandExecution', id: 'c1', command: "/bin/bash -lc 'make all'", cwd: '/p' }
export const asks = (method: string, params: object, id: number | string = 7) => ({
  id,
  ...note(method, { turnId: 'C1', itemId: 'c1', ...params }),
})
