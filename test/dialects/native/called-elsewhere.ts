/** In asking.test.ts. */
const ASKING = [
  'approval.request',
  'approval.wait',
  'approval.withdraw',
  'directory.list',
  'directory.configure',
]
/** In house.test.ts. */
const HOUSE = [
  'daemon.setName',
  'session.export',
  'queue.move',
  'messages.search',
  ...['list', 'get', 'create', 'update', 'delete', 'addRepo', 'removeRepo'].map((name) => `project.${name}`),
  ...['pin', 'pair', 'list', 'rename', 'revoke'].map((name) => `device.${name}`),
  'rules.check',
]

/** In queue.test.ts, decisions.test.ts and usage.test.ts. */
const TURNS = [
  ...['edit', 'steer'].map((name) => `queue.${name}`),
  ...['defer', 'history', 'context'].map((name) => `approval.${name}`),
  'subagents.list',
  'usage.series',
]

/** In relay.test.ts. */
const RELAY = ['overview', 'calls', 'series', 'settings.get', 'settings.set'].map((name) => `relay.${name}`)

/** In worktree.test.ts. */
const WORKTREES = [
  ...['list', 'diff', 'merge', 'commit', 'discard'].map((name) => `worktree.${name}`),
  ...['resources', 'history'].map((name) => `system.${name}`),
]

/** In marks.test.ts, watch.test.ts and draft.test.ts. */
const ATTENTION = ['session.mark', 'session.watch', 'session.unwatch', 'draft.set', 'draft.get']
/** In workspace.test.ts. */
const WORKSPACE = [
  ...['list', 'read', 'find'].map((name) => `files.${name}`),
  'changes.read',
  ...['list', 'preview', 'restore'].map((name) => `checkpoint.${name}`),
  ...['add', 'update', 'remove', 'list', 'send'].map((name) => `review.${name}`),
]

/** In test/cli/login.test.ts. */
const SIGN_IN = ['status', 'start', 'flow', 'cancel', 'setKey', 'forget'].map((name) => `signin.${name}`)

/** In conversation and demo tests, and in test/door. */
const OTHERS = ['conversation.read', 'demo.session', 'directory.look', 'door.code']

/** In adoption.test.ts. */
const ADOPTION = ['agents.conversations', 'session.adopt']

/** Methods that other test files are about; `rpc.discover` is called in test/client/conformance.test.ts. */
const MACHINES = [
  'machine.add',
  'machine.list',
  'machine.remove',
  'member.beginning',
  'member.call',
  'member.hello',
  'member.note',
  'member.sessions',
]

export const CALLED_ELSEWHERE = [
  'rpc.discover',
  'daemon.auth',
  'daemon.stop',
  ...ASKING,
  'events.subscribe',
  'events.unsubscribe',
  ...HOUSE,
  ...TURNS,
  ...WORKTREES,
  ...RELAY,
  ...WORKSPACE,
  ...SIGN_IN,
  ...ATTENTION,
  ...OTHERS,
  ...ADOPTION,
  ...MACHINES,
]
