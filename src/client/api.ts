/* Made by `npm run docs` from the descriptors of the methods. */

export type SessionView = {
  id: string
  /** name of a machine */
  machine?: string
  agent: string
  cwd: string
  /** as somebody has named it */
  title: string | null
  /** what to call it: its title, or what its agent calls it, or how its first message begins */
  name: string | null
  /** what the agent may do without asking */
  mode: 'auto' | 'code' | 'plan' | 'ask'
  /** the one that was chosen; null: the agent chooses */
  model: string | null
  /** the one that the agent says it uses; until it has said so, the chosen one */
  modelInUse: string | null
  /** how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself */
  effort: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
  status: 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
  tier: 'active' | 'warm' | 'cold'
  nativeId: string | null
  /** the session that it branched off */
  parentId: string | null
  /** the turn after which it branched off; null: it went on from where that session was */
  branch: {
    turnId: string
    /** of the end of that turn */
    seq: number
  } | null
  origin: string | null
  createdAt: number
  activeAt: number
  turn: {
    id: string
    startedAt: number
    startedSeq: number
    accepted: boolean
    attempts: number
    interrupting: boolean
    /** that it runs in, or ran in last; null: it has not begun */
    mode: 'auto' | 'code' | 'plan' | 'ask' | null
    /** that it runs with, as far as the agent has told */
    model: string | null
  } | null
  /** messages that wait */
  queued: number
  /** messages to the running turn that the agent has not taken yet */
  steering: number
  openApprovals: number
  archived: boolean
  turnCount: number
  usage: Usage
  /** of the last turn that is over */
  lastOutcome: 'completed' | 'failed' | 'interrupted' | null
  lastError: Failure | null
  /** what it wants of you: `needs_you` a decision, or a look at a turn that failed; `working` a turn runs or waits; `done` something has ended, or a snooze, and you have not looked; `snoozed` not now; `quiet` nothing */
  attention: 'needs_you' | 'working' | 'done' | 'snoozed' | 'quiet'
  marks: Marks
  /** the agent's process */
  pid: number | null
  rules: Rules
  /** without mcpConfig, which may hold secrets */
  settings: {
    systemPrompt?: string
    appendSystemPrompt?: string
    allowedTools?: string[]
    disallowedTools?: string[]
    maxTurns?: number
    /** absolute paths */
    additionalDirectories?: string[]
    /** told to the agent beside its prompt */
    customInstructions?: string
    /** an MCP tool of yours that is asked for permission, instead of Corral */
    permissionPromptTool?: string
    /** a question that nobody answers is refused after this long */
    approvalTimeoutMs?: number
    verbose?: boolean
    /** tools that you carry out: each call is an event `call.held`, answered with `call.answer` */
    clientTools?: ({
      name: string
      description: string
      /** JSON Schema */
      inputSchema: Record<string, unknown>
    })[]
    /** false: the agent has no tools but yours */
    ownTools?: boolean
    /** false: nobody can answer questions; the agent is not offered a tool for them, and one that comes is refused */
    questions?: boolean
  }
}

export type Usage = {
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  costUsd: number | null
  modelCalls: number
  durationMs: number
}

export type Failure = {
  code: string
  message: string
  detail?: Record<string, unknown>
}

export type Marks = {
  /** you have read up to here */
  readSeq: number
  pinned: boolean
  /** out of sight until then; when it is over, back until you look */
  snoozedUntil: number | null
  /** you have said that it is done */
  settled: boolean
  flags: string[]
}

export type Rules = {
  /** what passes: `edit`, `mcp__files__*`, `shell(git log*)`; see rules.md */
  allow: string[]
  /** what is refused; wins over everything else */
  deny: string[]
  /** edits of files pass */
  acceptEdits: boolean
  /** everything passes until this time (ms since 1970) */
  skipUntil: number | null
}

export type SessionRow = {
  id: string
  /** name of a machine */
  machine?: string
  agent: string
  cwd: string
  /** where nobody has given it one, the beginning of its first message, at most 60 characters */
  title: string | null
  /** that its directory belongs to */
  project: {
    id: string
    name: string
  } | null
  parentId: string | null
  origin: string | null
  status: 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
  tier: 'active' | 'warm' | 'cold'
  /** what it wants of you: `needs_you` a decision, or a look at a turn that failed; `working` a turn runs or waits; `done` something has ended, or a snooze, and you have not looked; `snoozed` not now; `quiet` nothing */
  attention: 'needs_you' | 'working' | 'done' | 'snoozed' | 'quiet'
  /** what the agent may do without asking */
  mode: 'auto' | 'code' | 'plan' | 'ask'
  /** in use */
  model: string | null
  effort: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
  turn: {
    id: string
    startedAt: number
  } | null
  queued: number
  openApprovals: number
  marks: Marks
  /** that the agent or the user has said; at most 200 characters */
  lastLine: string | null
  /** what the call is about that runs now; at most 120 characters */
  doing: string | null
  createdAt: number
  activeAt: number
  /** when the last turn ended */
  endedAt: number | null
  /** of the event with which it ended */
  endedSeq: number | null
  turnCount: number
  costUsd: number | null
  /** how full the conversation is, as far as the agent tells */
  tokens: {
    used: number | null
    window: number | null
  }
  lastOutcome: 'completed' | 'failed' | 'interrupted' | null
  lastError: {
    code: string
    message: string
  } | null
  /** it works in a git worktree of its own */
  worktree: boolean
  /** the checkout that its worktree was made from; null: it has none, or that was not written down */
  worktreeOf: string | null
  archived: boolean
}

/** of all sessions, also of those that the limit has left out */
export type Counts = {
  needs_you: number
  working: number
  done: number
  snoozed: number
  quiet: number
  /** open ones, of all these sessions */
  approvals: number
}

export type TurnView = {
  id: string
  /** id of a session */
  sessionId: string
  state: 'queued' | 'running' | 'completed' | 'failed' | 'interrupted' | 'cancelled'
  input: Content[]
  key: string | null
  origin: string | null
  queuedAt: number
  startedAt: number | null
  endedAt: number | null
  seq: number
  usage: Usage | null
  error: Failure | null
  /** the agent's last words in it */
  text: string | null
  agent: string | null
  /** that it runs in, or ran in last; null: it has not begun */
  mode: 'auto' | 'code' | 'plan' | 'ask' | null
  /** that it runs with, as far as the agent has told */
  model: string | null
}

export type Content = 
  | {
      type: 'text'
      text: string
    }
  | {
      type: 'image'
      mediaType: string
      data: string
    }
  | {
      type: 'document'
      mediaType: 'application/pdf'
      data: string
    }

export type ApprovalView = {
  id: string
  /** name of a machine */
  machine?: string
  /** id of a session */
  sessionId: string
  turnId: string | null
  kind: 'tool' | 'question' | 'plan'
  tool: string
  input: unknown
  /** what rules look at */
  about: {
    class: 'shell' | 'edit' | 'read' | 'fetch' | 'search' | 'mcp' | 'other'
    /** the command, each path, the address */
    subjects: string[]
    /** there is more that is not said */
    partly?: boolean
  }
  callId: string | null
  summary: string | null
  suggestions: unknown
  parent: string | null
  /** asked from outside, not by the agent's own process */
  external: boolean
  /** refused then; null: it waits for ever */
  timeoutAt: number | null
  requestedAt: number
  decision: Decision | null
  decidedBy: string | null
  decidedAt: number | null
  /** put off until then: it waits on, and nobody is to be bothered with it before; null: it is not */
  deferredUntil: number | null
}

export type Decision = 
  | {
      behavior: 'allow'
      input?: unknown
      forSession?: boolean
      forDirectory?: boolean
      comment?: string
      answers?: Record<string, string>
    }
  | {
      behavior: 'deny'
      comment: string
    }
  | {
      behavior: 'respond'
      text: string
    }
  | {
      behavior: 'cancelled'
      reason: string
    }

export type HistoryItem = 
  | {
      kind: 'user'
      seq: number
      at: number
      turnId: string | null
      content: Content[]
      origin: string | null
      /** of its turn, at the beginning of one */
      mode?: 'auto' | 'code' | 'plan' | 'ask' | null
      /** that it runs with, as far as the agent has told */
      model?: string | null
    }
  | {
      kind: 'assistant' | 'thinking'
      seq: number
      at: number
      turnId: string | null
      messageId: string
      text: string
      aborted: boolean
      /** the tool call of the sub-agent that this belongs to */
      parent: string | null
    }
  | {
      kind: 'tool'
      seq: number
      at: number
      turnId: string | null
      callId: string
      tool: string
      input: unknown
      /** the tool call of the sub-agent that this belongs to */
      parent: string | null
    }
  | {
      kind: 'result'
      seq: number
      at: number
      turnId: string | null
      callId: string
      output: string
      isError: boolean
      cut: number
      /** the tool call of the sub-agent that this belongs to */
      parent: string | null
    }
  | {
      kind: 'approval'
      seq: number
      at: number
      turnId: string | null
      approvalId: string
      ask: 'tool' | 'question' | 'plan'
      tool: string
      input: unknown
      summary: string | null
      /** a human was asked; false: a mode or a rule answered at once */
      asked: boolean
    }
  | {
      kind: 'decision'
      seq: number
      at: number
      turnId: string | null
      approvalId: string
      decision: Decision
      by: string
      /** a human was asked; false: a mode or a rule answered at once */
      asked: boolean
    }
  | {
      kind: 'plan'
      seq: number
      at: number
      turnId: string | null
      entries: PlanEntry[]
    }
  | {
      kind: 'notice'
      seq: number
      at: number
      turnId: string | null
      level: 'info' | 'warning'
      code: string
      message: string
    }
  | {
      kind: 'compacted'
      seq: number
      at: number
      turnId: string | null
      tokensBefore: number | null
      tokensAfter: number | null
      /** why the agent could not sum up its conversation */
      error: string | null
    }
  | {
      kind: 'end'
      seq: number
      at: number
      turnId: string | null
      outcome: 'completed' | 'failed' | 'interrupted'
      usage: Usage
      error: Failure | null
    }

export type PlanEntry = {
  text: string
  state: 'pending' | 'active' | 'done'
}

export type SearchHit = {
  /** id of a session */
  sessionId: string
  /** name of a machine */
  machine?: string
  turnId: string | null
  /** of the event in which it was said */
  seq: number
  at: number
  role: 'user' | 'assistant'
  /** the part around what was found */
  text: string
  /** what was found, as ranges of characters in `text` */
  marks: ([number, number])[]
}

export type Project = {
  id: string
  name: string
  rootPath: string | null
  description: string | null
  orgSlug: string | null
  createdAt: number
  updatedAt: number
  /** when it was changed, or a session in it was active */
  lastActiveAt: number
  repos: ({
    path: string
    addedAt: number
    /** when a session was last active in it */
    lastOpenedAt: number | null
  })[]
}

export type Device = {
  id: string
  name: string
  platform: 'ios' | 'android' | 'macos' | 'windows' | 'linux' | 'web' | 'other'
  /** `manage`: it may let devices in and put them out */
  scopes: ('use' | 'manage')[]
  pairedAt: number
  /** to the minute; null: it has not come back since */
  lastSeenAt: number | null
}

export type AgentReport = {
  name: string
  title: string
  installed: boolean
  path: string | null
  version: string | null
  /** why it is not installed, and what to do about it */
  problem: string | null
  /** null: it cannot be told */
  signedIn: boolean | null
  /** how a human signs in; null when that is done */
  signIn: string | null
  capabilities: {
    streaming: boolean
    thinking: boolean
    approvals: boolean
    images: boolean
    documents: boolean
    resume: boolean
    relocate: boolean
    fork: boolean
    cost: boolean
    setModel: boolean
    effort: boolean
    setMode: boolean
    steer: boolean
    editInput: boolean
    denyComment: boolean
    pause: boolean
    survivesRestart: boolean
    clientTools: boolean
    bare: boolean
    compact: boolean
  }
  /** what it does without a question, by class of tools: no rule can keep it from that */
  unasked: Record<string, {
    /** for people */
    what: string
    /** about none of this class */
    all?: boolean
    such?: readonly string[]
  }>
}

export type Check = {
  group: 'machine' | 'home' | 'configuration' | 'daemon' | 'agents'
  /** stays the same: `sqlite`, `disk_space`, `agent_claude` */
  name: string
  status: 'ok' | 'warn' | 'error' | 'skipped'
  message: string
  /** what to do about it */
  fix: string | null
}

export type Settings = {
  systemPrompt?: string
  appendSystemPrompt?: string
  allowedTools?: string[]
  disallowedTools?: string[]
  maxTurns?: number
  mcpConfig?: unknown
  /** absolute paths */
  additionalDirectories?: string[]
  /** told to the agent beside its prompt */
  customInstructions?: string
  /** an MCP tool of yours that is asked for permission, instead of Corral */
  permissionPromptTool?: string
  /** a question that nobody answers is refused after this long */
  approvalTimeoutMs?: number
  verbose?: boolean
  /** tools that you carry out: each call is an event `call.held`, answered with `call.answer` */
  clientTools?: ({
    name: string
    description: string
    /** JSON Schema */
    inputSchema: Record<string, unknown>
  })[]
  /** false: the agent has no tools but yours */
  ownTools?: boolean
  /** false: nobody can answer questions; the agent is not offered a tool for them, and one that comes is refused */
  questions?: boolean
}

export type AgentModel = {
  /** as `model` of a session */
  id: string
  /** for people */
  name: string
  description?: string
  /** in rising order */
  efforts?: ('off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max')[]
  defaultEffort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'
  /** in tokens */
  contextWindow?: number
}

export type FileChange = {
  path: string
  /** the name before, where it had another one */
  oldPath: string | null
  status: 'added' | 'deleted' | 'modified' | 'renamed'
  isBinary: boolean
  additions: number
  deletions: number
  hunks: readonly Hunk[]
  /** there is more than the hunks say */
  truncated: boolean
}

export type Hunk = {
  oldStart: number
  oldLines: number
  newStart: number
  newLines: number
  /** the function around it, where git names one */
  header: string
  lines: readonly ({
    /** in both versions, only in the new one, only in the old one */
    kind: ' ' | '+' | '-'
    /** without its line feed */
    text: string
    /** its number in the old version; null: it is not in it */
    old: number | null
    new: number | null
  })[]
}

export type About = {
  class: 'shell' | 'edit' | 'read' | 'fetch' | 'search' | 'mcp' | 'other'
  /** the command, each path, the address */
  subjects: string[]
  /** there is more that is not said */
  partly?: boolean
}

export type Question = {
  /** id of an approval */
  id: string
  /** the agent's own name for it */
  requestId: string
  kind: 'tool' | 'question' | 'plan'
  tool: string
  input: unknown
  /** what rules look at */
  about?: About
  /** it changes files and does nothing else */
  edits: boolean
  /** its input cannot be changed */
  fixed?: boolean
  /** the tool call that it is about */
  callId: string | null
  /** one line for people */
  summary: string | null
  suggestions: unknown
  /** the tool call of the sub-agent that this belongs to; null: the agent itself */
  parent: string | null
  covers?: string
}

export type EventContent = 
  | {
      type: 'text'
      text: string
    }
  | {
      type: 'image'
      mediaType: string
      data: string
    }
  | {
      type: 'document'
      mediaType: 'application/pdf'
      data: string
    }

export type ConversationParts = {
  /** the turn that runs */
  turn: {
    id: string
    mode: 'auto' | 'code' | 'plan' | 'ask' | null
    model: string | null
    interrupting: boolean
  } | null
  waiting: readonly ({
    /** the turn's id, or the steer's */
    id: string
    content: readonly EventContent[]
    key: string | null
    origin: string | null
    steer: boolean
    sentAt: number
  })[]
  open: readonly ({
    id: string
    kind: 'text' | 'thinking'
    /** all there is of it so far */
    text: string
    parent: string | null
    openedAt: number
    open: boolean
    aborted: boolean
  })[]
  calls: readonly ({
    id: string
    tool: string
    input: unknown
    state: 'asked' | 'running' | 'refused' | 'done' | 'failed'
    output: string | null
    cut: number
    parent: string | null
    startedAt: number
    seq: number
    begun: boolean
    external: boolean
    usage?: Usage
  })[]
  questions: readonly ({
    approval: Question
    turnId: string | null
    external: boolean
    timeoutAt: number | null
    asked: boolean
    callId: string
  })[]
  denied: readonly string[]
}

/** The events of the log, by type. */
export interface Events {
  'session.created': {
    type: 'session.created'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    agent: string
    cwd: string
    /** what the agent may do without asking */
    mode: 'auto' | 'code' | 'plan' | 'ask'
    model: string | null
    effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
    title: string | null
    settings: Settings
    nativeId: string | null
    parentId: string | null
    forkFrom: string | null
    forkAt?: string
    /** the turn after which it branched off */
    branch?: {
      /** id of a turn */
      turnId: string
      seq: number
    }
    recap?: true
    origin: string | null
    rules: Rules
    worktreeOf?: string
  }
  'session.changed': {
    type: 'session.changed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** nobody asked for it */
    reason?: 'expired' | 'agent'
    /** what the agent may do without asking */
    mode?: 'auto' | 'code' | 'plan' | 'ask'
    model?: string | null
    effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
    title?: string | null
    /** what the agent calls it */
    toldTitle?: string
    nativeId?: string | null
    paused?: boolean
    modeBeforePlan?: 'auto' | 'code' | 'plan' | 'ask' | null
    rules?: Rules
    archived?: boolean
    notes?: Record<string, unknown>
    forkFrom?: null
    forkAt?: null
    recap?: boolean
  }
  'session.status': {
    type: 'session.status'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    status: 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
    previous: 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
    /** of the last turn */
    outcome: 'completed' | 'failed' | 'interrupted' | null
  }
  'session.marked': {
    type: 'session.marked'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** you have read up to here */
    readSeq?: number
    pinned?: boolean
    /** out of sight until then; when it is over, back until you look */
    snoozedUntil?: number | null
    /** you have said that it is done */
    settled?: boolean
    flags?: readonly string[]
  }
  'session.drafted': {
    type: 'session.drafted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    text: string
    revision: number
  }
  'session.destroyed': {
    type: 'session.destroyed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
  }
  'turn.queued': {
    type: 'turn.queued'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** what the user says */
    input: EventContent[]
    key: string | null
    origin: string | null
    /** 0: starts at once; n: the n-th in the queue */
    position: number
    /** a steer that its turn ended without */
    late?: true
  }
  'turn.accepted': {
    type: 'turn.accepted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
  }
  'turn.started': {
    type: 'turn.started'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** not there in older logs */
    agent?: string
    /** not there in older logs */
    mode?: 'auto' | 'code' | 'plan' | 'ask'
    /** not there in older logs */
    model?: string | null
  }
  'turn.retried': {
    type: 'turn.retried'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    reason: string
  }
  'turn.interrupting': {
    type: 'turn.interrupting'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    reason?: 'stopping'
  }
  'turn.steered': {
    type: 'turn.steered'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    steerId: string
    /** what the user says */
    input: EventContent[]
    key: string | null
    origin: string | null
  }
  'turn.steer_accepted': {
    type: 'turn.steer_accepted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    steerId: string
    /** what the user says */
    input: EventContent[]
    origin: string | null
  }
  'turn.completed': {
    type: 'turn.completed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    usage: Usage
    /** the agent's last words */
    text: string | null
    branch?: {
      nativeId: string
      message: string
    }
  }
  'turn.failed': {
    type: 'turn.failed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    usage: Usage
    error: Failure
  }
  'turn.interrupted': {
    type: 'turn.interrupted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    usage: Usage
  }
  'turn.moved': {
    type: 'turn.moved'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    position: number
  }
  'turn.edited': {
    type: 'turn.edited'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** what the user says */
    input: EventContent[]
  }
  'turn.cancelled': {
    type: 'turn.cancelled'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    reason: string
    steered?: string
  }
  'message.delta': {
    type: 'message.delta'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    messageId: string
    kind: 'text' | 'thinking'
    /** a piece */
    text: string
    /** the tool call of the sub-agent that this belongs to; null: the agent itself */
    parent: string | null
  }
  'message.completed': {
    type: 'message.completed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    messageId: string
    kind: 'text' | 'thinking'
    /** the whole message */
    text: string
    /** the tool call of the sub-agent that this belongs to; null: the agent itself */
    parent: string | null
    /** cut off by an interrupt or a crash */
    aborted: boolean
  }
  'tool.started': {
    type: 'tool.started'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    callId: string
    tool: string
    input: unknown
    /** the tool call of the sub-agent that this belongs to; null: the agent itself */
    parent: string | null
  }
  'tool.completed': {
    type: 'tool.completed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as in `tool.started` */
    callId: string
    output: string
    isError: boolean
    /** the tool call of the sub-agent that this belongs to; null: the agent itself */
    parent: string | null
    /** bytes that were cut from `output` */
    cut: number
    images?: readonly ({
      type: 'image'
      mediaType: string
      data: string
    })[]
    /** of the sub-agent that it ran */
    usage?: Usage
  }
  'agent.init': {
    type: 'agent.init'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    nativeId: string | null
    model: string | null
    version: string | null
    /** the agent's own line */
    raw: unknown
  }
  'agent.model': {
    type: 'agent.model'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** that it uses from here on */
    model: string
  }
  'agent.compacting': {
    type: 'agent.compacting'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as far as the agent tells */
    tokens: number | null
    /** as far as the agent tells */
    window: number | null
  }
  'agent.compacted': {
    type: 'agent.compacted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as far as the agent tells */
    tokensBefore: number | null
    /** as far as the agent tells */
    tokensAfter: number | null
    /** as far as the agent tells */
    window: number | null
    /** why it could not */
    error: string | null
  }
  'agent.context': {
    type: 'agent.context'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as far as the agent tells */
    used: number | null
    /** as far as the agent tells */
    window: number | null
  }
  'agent.plan': {
    type: 'agent.plan'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** the whole plan, as it is now */
    entries: PlanEntry[]
  }
  'agent.commands': {
    type: 'agent.commands'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    commands: ({
      name: string
      about: string | null
    })[]
  }
  'agent.notice': {
    type: 'agent.notice'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    level: 'info' | 'warning'
    code: string
    message: string
    data: unknown
  }
  'agent.other': {
    type: 'agent.other'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    kind: string
    raw: unknown
  }
  'agent.limits': {
    type: 'agent.limits'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    agent: string
    plan?: string
    windows: ({
      name: string
      usedPercent: number
      lengthMs: number | null
      resetsAt: number | null
    })[]
  }
  'agent.started': {
    type: 'agent.started'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    run: {
      id: string
      pid: number
      startTime: string
      bootId: string
    }
    resumed: boolean
  }
  'agent.exited': {
    type: 'agent.exited'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    runId: string
    code: number | null
    signal: string | null
    stderr: string
    /** Corral ended it itself */
    expected: boolean
  }
  'approval.requested': {
    type: 'approval.requested'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    turnId: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    approval: Question
    /** false: mode or rules answer it at once */
    open: boolean
    /** asked from outside, not by the agent's own process */
    external: boolean
    /** refused then; null: it waits for ever */
    timeoutAt: number | null
  }
  'approval.resolved': {
    type: 'approval.resolved'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** id of an approval */
    approvalId: string
    decision: Decision
    by: string
    /** a human had been asked */
    asked?: boolean
    /** name of the device that it came from */
    device?: string
  }
  'approval.deferred': {
    type: 'approval.deferred'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** id of an approval */
    approvalId: string
    until: number | null
  }
  'approval.delivered': {
    type: 'approval.delivered'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** id of an approval */
    approvalId: string
  }
  'call.held': {
    type: 'call.held'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as in `tool.started` */
    callId: string
    requestId: string
    ref?: unknown
    tool: string
    input: unknown
  }
  'call.answered': {
    type: 'call.answered'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as in `tool.started` */
    callId: string
    result: {
      content: EventContent[]
      isError: boolean
    }
  }
  'call.delivered': {
    type: 'call.delivered'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as in `tool.started` */
    callId: string
  }
  'call.dropped': {
    type: 'call.dropped'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    /** as in `tool.started` */
    callId: string
  }
  'checkpoint.taken': {
    type: 'checkpoint.taken'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    checkpointId: string
    kind: 'before' | 'after' | 'undo' | 'restored'
    tree: string
    ref: string
    repository: string
    files: number | null
    left: string[]
  }
  'checkpoint.restored': {
    type: 'checkpoint.restored'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    checkpointId: string
    undo: string
    tree: string
    files: number
  }
  'review.added': {
    type: 'review.added'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    comment: {
      id: string
      /** id of a session */
      sessionId: string
      path: string
      side: 'old' | 'new'
      line: number
      endLine: number
      text: string
      hunk: Hunk
      createdAt: number
      sentIn: string | null
    }
  }
  'review.updated': {
    type: 'review.updated'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    commentId: string
    text: string
  }
  'review.removed': {
    type: 'review.removed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    commentId: string
  }
  'review.sent': {
    type: 'review.sent'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** id of a turn */
    turnId: string
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    commentIds: string[]
  }
  'daemon.renamed': {
    type: 'daemon.renamed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    name: string
  }
  'directory.changed': {
    type: 'directory.changed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    path: string
    rules: Rules
  }
  'project.created': {
    type: 'project.created'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    projectId: string
    repos: string[]
    name: string
    rootPath: string | null
    description: string | null
    orgSlug: string | null
  }
  'project.updated': {
    type: 'project.updated'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    projectId: string
    name?: string
    rootPath?: string | null
    description?: string | null
    orgSlug?: string | null
  }
  'project.deleted': {
    type: 'project.deleted'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    projectId: string
  }
  'project.repo_added': {
    type: 'project.repo_added'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    projectId: string
    path: string
  }
  'project.repo_removed': {
    type: 'project.repo_removed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    projectId: string
    path: string
  }
  'device.paired': {
    type: 'device.paired'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    deviceId: string
    name: string
    platform: 'ios' | 'android' | 'macos' | 'windows' | 'linux' | 'web' | 'other'
    scopes: ('use' | 'manage')[]
  }
  'device.renamed': {
    type: 'device.renamed'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    deviceId: string
    name: string
  }
  'device.revoked': {
    type: 'device.revoked'
    /** its number in the log */
    seq: number
    at: number
    /** empty: it belongs to no session */
    sessionId: string
    /** the turn that it happened in */
    turnId?: string | null
    /** the machine that it happened on; not there: this one */
    machine?: string
    /** its number in the log of that machine */
    ownerSeq?: number
    deviceId: string
  }
}

export type EventType = keyof Events

/** One fact in the log. */
export type Event = Events[EventType]

/** The codes of refusals: docs/native.md says what each means. */
export type ErrorCode =
  | 'invalid'
  | 'session_not_found'
  | 'turn_not_found'
  | 'approval_not_found'
  | 'call_not_found'
  | 'approval_resolved'
  | 'path_not_found'
  | 'project_not_found'
  | 'repo_not_found'
  | 'repo_in_project'
  | 'device_not_found'
  | 'pin_invalid'
  | 'pin_expired'
  | 'forbidden'
  | 'git_failed'
  | 'unsaved_work'
  | 'agent_unknown'
  | 'agent_missing'
  | 'unsupported'
  | 'conversation_busy'
  | 'conversation_not_found'
  | 'conversation_adopted'
  | 'conflict'
  | 'queue_full'
  | 'not_running'
  | 'cursor_reset'
  | 'machine_not_found'
  | 'machine_unreachable'
  | 'storage'
  | 'stopping'
  | 'internal'

/** The parameters and the result of every method, by name. */
export interface Api {
  /** The first message on a WebSocket whose request had no `Authorization: Bearer`. Anywhere else it changes nothing. */
  'daemon.auth': {
    params: {
      token?: string | undefined
      /** the dashboard has this and a cookie instead of a token */
      key?: string | undefined
    }
    result: {
      authenticated: boolean
    }
  }
  /** How the daemon is doing. */
  'daemon.status': {
    params: Record<string, never>
    result: {
      pid: number
      /** what people call it */
      name: string | null
      version: string
      startedAt: number
      uptimeMs: number
      /** it has begun to stop, and takes no messages any more */
      stopping: boolean
      listeners: ({
        name: string
        address: string
      })[]
      /** why a listener is elsewhere than it should be, or not there */
      troubles: ({
        name: string
        message: string
      })[]
      log: {
        id: string
        /** a `seq` of the log */
        head: number
        /** a `seq` of the log */
        oldest: number
      }
      sessions: {
        idle: number
        running: number
        waiting: number
        paused: number
      }
      agents: {
        running: number
        idle: number
        maxWarm: number
      }
      memory: {
        rss: number
        heapUsed: number
      }
    }
  }
  /** Looks at the machine, the data directory, the configuration, the listeners and the agents; changes nothing. */
  'daemon.doctor': {
    params: Record<string, never>
    result: {
      /** the worst of all */
      status: 'ok' | 'warn' | 'error'
      checks: Check[]
    }
  }
  /** Stops the daemon. With `keep`, agents go on running and the next daemon takes them up. */
  'daemon.stop': {
    params: {
      /** default: "end" */
      agents?: 'end' | 'keep' | undefined
      /** do not wait for running turns; default: false */
      now?: boolean | undefined
    }
    result: {
      pid: number
    }
  }
  /** Gives the daemon a name for people, which it keeps. `daemon.renamed` tells everybody. */
  'daemon.setName': {
    params: {
      name: string
    }
    result: {
      name: string
    }
  }
  /** The agents that Corral can drive, whether they are installed here and signed in to, what each can do, and what it has told last about its account (`agent.limits` tells when that changes). */
  'agents.list': {
    params: Record<string, never>
    result: {
      agents: ({
        name: string
        title: string
        installed: boolean
        path: string | null
        version: string | null
        /** why it is not installed, and what to do about it */
        problem: string | null
        /** null: it cannot be told */
        signedIn: boolean | null
        /** how a human signs in; null when that is done */
        signIn: string | null
        capabilities: {
          streaming: boolean
          thinking: boolean
          approvals: boolean
          images: boolean
          documents: boolean
          resume: boolean
          relocate: boolean
          fork: boolean
          cost: boolean
          setModel: boolean
          effort: boolean
          setMode: boolean
          steer: boolean
          editInput: boolean
          denyComment: boolean
          pause: boolean
          survivesRestart: boolean
          clientTools: boolean
          bare: boolean
          compact: boolean
        }
        /** what it does without a question, by class of tools: no rule can keep it from that */
        unasked: Record<string, {
          /** for people */
          what: string
          /** about none of this class */
          all?: boolean
          such?: readonly string[]
        }>
        /** what is left of the account; null: nothing was told yet */
        limits: {
          /** where the agent says which */
          plan?: string
          /** those that have not begun anew since */
          windows: ({
            /** the agent's own name for it */
            name: string
            usedPercent: number
            lengthMs: number | null
            resetsAt: number | null
          })[]
          /** when it was told */
          at: number
        } | null
      })[]
    }
  }
  /** The models that an agent offers, as it has told them last: it does so when a session of its begins. One that never has is asked now, and waited for a few seconds. Empty: it does not say, is not installed or has no account. */
  'agents.models': {
    params: {
      agent: string
    }
    result: {
      models: AgentModel[]
    }
  }
  /** This API as an OpenRPC document: every method with its parameters, its result and its errors. */
  'rpc.discover': {
    params: Record<string, never>
    result: {
      [name: string]: unknown
      openrpc: string
      info: {
        [name: string]: unknown
        title: string
        version: string
      }
      methods: ({
        [name: string]: unknown
        name: string
      })[]
      components: Record<string, unknown>
    }
  }
  /** Makes a session. No process is started before the first message. */
  'session.create': {
    params: {
      /** name of a machine */
      machine?: string | undefined
      agent: string
      /** directory that the agent works in */
      cwd: string
      /** in a git worktree of its own instead, made from the repository that `cwd` is in; default: false */
      worktree?: boolean | undefined
      /** uncommitted work comes along into the worktree; default: false */
      carry?: boolean | undefined
      /** the name of the branch of that worktree, which must be free; otherwise one is made of the title */
      branch?: string | undefined
      /** what the first message will be about: without a title, the branch is named after it */
      about?: string | undefined
      /** what the agent may do without asking */
      mode?: 'auto' | 'code' | 'plan' | 'ask' | undefined
      model?: string | null | undefined
      /** how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself */
      effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null | undefined
      title?: string | null | undefined
      settings?: Settings | undefined
      rules?: Rules | undefined
      /** a conversation of the agent's own, to go on with */
      nativeId?: string | null | undefined
      /** its id, where you had to know it before; one that is taken is refused */
      id?: string | undefined
      /** the same key twice has one effect: safe to send again */
      key?: string | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: SessionView
  }
  /** The agent and the mode that `corral new` and the dashboard begin with (settings `defaults.agent`, `defaults.mode`). `session.create` does not look at them. */
  'session.defaults': {
    params: {
      /** name of a machine */
      machine?: string | undefined
    }
    result: {
      agent: string
      /** `found`: it is installed here; `demo`: no other agent is */
      chosen: 'set' | 'found' | 'demo'
      /** what the agent may do without asking */
      mode: 'auto' | 'code' | 'plan' | 'ask'
    }
  }
  /** One session. */
  'session.get': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: SessionView
  }
  /** Sessions, the most recently active first, a page at a time. */
  'session.list': {
    params: {
      /** default: 50 */
      limit?: number | undefined
      /** `next` of the page before */
      cursor?: string | undefined
      agent?: string | undefined
      /** default: false */
      includeDestroyed?: boolean | undefined
      /** only those that are archived, or are not */
      archived?: boolean | undefined
      /** only those that nothing branches off */
      leaves?: boolean | undefined
    }
    result: {
      sessions: SessionView[]
      next: string | null
    }
  }
  /** Changes mode, model, effort, title, rules, whether it is archived, or the conversation that goes on. A running agent is told. */
  'session.configure': {
    params: {
      /** what is given replaces what was */
      rules?: {
        /** what passes: `edit`, `mcp__files__*`, `shell(git log*)`; see rules.md */
        allow?: string[]
        /** what is refused; wins over everything else */
        deny?: string[]
        /** edits of files pass */
        acceptEdits?: boolean
        /** everything passes until this time (ms since 1970) */
        skipUntil?: number | null
      }
      /** id of a session */
      sessionId: string
      /** what the agent may do without asking */
      mode?: 'auto' | 'code' | 'plan' | 'ask' | undefined
      /** in place of a mode: into plan mode, or back out of it */
      plan?: boolean | undefined
      model?: string | null | undefined
      /** how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself */
      effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null | undefined
      title?: string | null | undefined
      /** out of sight, not gone */
      archived?: boolean | undefined
      /** go on with this conversation of the agent's own; null: a fresh one */
      nativeId?: string | null | undefined
    }
    result: SessionView
  }
  /** A new session that branches off the conversation, as it is now or after one of its turns. With `turnId` it works for every agent: one that cannot branch off there itself is told what was said up to there, once, before its first message. `history.read` shows the conversation up to that point, and then the new one. */
  'session.fork': {
    params: {
      /** id of a session */
      sessionId: string
      /** after this turn of the conversation, which is over: of the session, or of one that it branched off */
      turnId?: string | undefined
      title?: string | null | undefined
      model?: string | null | undefined
      /** how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself */
      effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null | undefined
      /** instead of those of the session it branches off */
      settings?: Settings | undefined
      /** the same key twice has one effect: safe to send again */
      key?: string | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: SessionView
  }
  /** Holds the session: its process stands still, queued messages wait. */
  'session.pause': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: SessionView
  }
  /** Ends a pause. */
  'session.resume': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: SessionView
  }
  /** Stops the running turn. Answers once that is decided; `turn.interrupted` tells when it has happened. */
  'session.interrupt': {
    params: {
      /** id of a session */
      sessionId: string
      /** only this one, out of the queue if it has not begun; what has begun meanwhile goes on */
      turnId?: string | undefined
      /** default: false */
      clearQueue?: boolean | undefined
    }
    result: {
      /** a turn was running */
      interrupted: boolean
      /** turns that were taken out of the queue */
      cancelled: string[]
    }
  }
  /** Removes the session. Answers when its process is gone too. A worktree of its own goes, unless work in it would be lost. */
  'session.destroy': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      /** id of a session */
      sessionId: string
      /** `kept`: there is work in it that is nowhere else; `left`: it could not be removed */
      worktree: {
        fate: 'removed' | 'kept' | 'left'
        path: string
      } | null
    }
  }
  /** The session as a document, a page at a time: the texts of all pages, one after the other. `json` has the session and every event of it but drafts, `markdown` is for people. */
  'session.export': {
    params: {
      /** id of a session */
      sessionId: string
      /** default: "json" */
      format?: 'json' | 'markdown' | undefined
      /** `next` of the page before */
      cursor?: string | undefined
    }
    result: {
      text: string
      next: string | null
    }
  }
  /** Sends the user's message: a new turn, which runs at once or, unless `busy` says otherwise, waits in the queue. Answers after the commit. */
  'session.send': {
    params: {
      /** id of a session */
      sessionId: string
      /** a text, or pieces of text, images and documents (base64) */
      content: string | Content[]
      /** while the session is busy or paused: wait, be refused with `conversation_busy`, go to the turn that runs (`unsupported` where the agent cannot be steered), or stop that turn and be the next; default: "queue" */
      busy?: 'queue' | 'refuse' | 'steer' | 'interrupt' | undefined
      /** the same key twice has one effect: safe to send again */
      key?: string | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: {
      /** id of a turn */
      turnId: string
      /** 0: running now; n: n messages are before it */
      position: number
      /** of its `turn.queued` or `turn.steered`: follow the turn from just before here */
      seq: number
      /** the key was known; nothing new happened */
      repeated: boolean
      /** the turn that it was brought to; if that ends without it, it becomes the turn `turnId` */
      steered?: string
      log: string
    }
  }
  /** Has the agent sum up its conversation, to make room: a turn like any other, with the message `/compact`. Answers after the commit; `agent.compacting` and `agent.compacted` tell what comes of it. `unsupported` when the agent cannot do it on request. */
  'session.compact': {
    params: {
      /** id of a session */
      sessionId: string
      /** as in `session.send`; default: "queue" */
      busy?: 'queue' | 'refuse' | 'interrupt' | undefined
      /** the same key twice has one effect: safe to send again */
      key?: string | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: {
      /** id of a turn */
      turnId: string
      /** 0: running now; n: n messages are before it */
      position: number
      /** of its `turn.queued` or `turn.steered`: follow the turn from just before here */
      seq: number
      /** the key was known; nothing new happened */
      repeated: boolean
      /** the turn that it was brought to; if that ends without it, it becomes the turn `turnId` */
      steered?: string
      log: string
    }
  }
  /** Brings a message to the turn that runs. Answers after the commit; `turn.steer_accepted` tells that the agent has taken it. If the turn ends before, the message becomes the next turn, with `steerId` as its id. `not_running` when there is no turn; `unsupported` when the agent cannot be steered. */
  'session.steer': {
    params: {
      /** id of a session */
      sessionId: string
      /** a text, or pieces of text, images and documents (base64) */
      content: string | Content[]
      /** the same key twice has one effect: safe to send again */
      key?: string | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: {
      steerId: string
      /** the turn that runs */
      turnId: string
      /** of its `turn.steered` */
      seq: number
      /** the key was known; nothing new happened */
      repeated: boolean
      log: string
    }
  }
  /** Conversations that began without Corral, as agents keep them in their own stores, the last used first. The stores are read and never written. `session.adopt` goes on with one. */
  'agents.conversations': {
    params: {
      agent?: string | undefined
      /** only those of this directory */
      cwd?: string | undefined
      /** default: 50 */
      limit?: number | undefined
      /** also those that Corral has, or has had; default: false */
      all?: boolean | undefined
    }
    result: {
      conversations: ({
        agent: string
        /** the agent's own id of it */
        id: string
        cwd: string
        /** what it is called there */
        title: string | null
        /** the beginning of its first message */
        opening: string | null
        updatedAt: number
        /** a process of the agent, not of this Corral, that has it open */
        holder: {
          pid: number
          /** false: it runs in the same directory, and does not say which conversation it has open */
          certain: boolean
          /** the command that ends it, for one that goes on when its user has left */
          endedBy: string | null
        } | null
        /** the session that has it */
        sessionId: string | null
        /** Corral has had it: it was begun here, or adopted */
        known: boolean
      })[]
      /** how many are left out since Corral has them */
      known: number
      /** there are more */
      truncated: boolean
      /** where it was looked */
      places: ({
        agent: string
        path: string
        /** why it cannot be read */
        problem: string | null
      })[]
    }
  }
  /** A session that goes on with a conversation of `agents.conversations`, in its directory: the next message continues it. What was said in it, by the user and by the agent, is in the history of the session. Refused with `conversation_busy` while a process of the agent has it open. */
  'session.adopt': {
    params: {
      agent: string
      id: string
      /** `ask` if not given */
      mode?: 'auto' | 'code' | 'plan' | 'ask' | undefined
      model?: string | null | undefined
      /** how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself */
      effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null | undefined
      title?: string | null | undefined
      /** also where `holder` is not certain; never where it is; default: false */
      force?: boolean | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: {
      session: SessionView
      /** how many turns of it were taken over */
      turns: number
      /** there were more before them, which only the agent knows */
      isCut: boolean
    }
  }
  /** One turn. */
  'turn.get': {
    params: {
      /** id of a turn */
      turnId: string
    }
    result: TurnView
  }
  /** The turns of a session, the newest first. */
  'turn.list': {
    params: {
      /** id of a session */
      sessionId: string
      /** default: 50 */
      limit?: number | undefined
    }
    result: {
      turns: TurnView[]
    }
  }
  /** The messages that wait in a session, in order. */
  'queue.list': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      turns: TurnView[]
    }
  }
  /** Moves a message within the queue; it is still to run once. `turn.moved` tells everybody. */
  'queue.move': {
    params: {
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId: string
      /** 1: the next to run; beyond the end is the end */
      position: number
    }
    result: {
      /** ids of the turns that wait, in order */
      queue: string[]
    }
  }
  /** Takes a message out of the queue before it runs. */
  'queue.remove': {
    params: {
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId: string
    }
    result: {
      /** id of a turn */
      turnId: string
    }
  }
  /** Changes what a message says that waits in the queue. `turn.edited` tells everybody; the message appears in the conversation once, as it is when its turn begins. `turn_not_found` when it no longer waits, or came too late for a turn as a steer, so that the agent may have read it. */
  'queue.edit': {
    params: {
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId: string
      /** a text, or pieces of text, images and documents (base64) */
      content: string | Content[]
    }
    result: TurnView
  }
  /** Brings a message that waits in the queue to the turn that runs: it leaves the queue (`turn.cancelled` with `steered`) and is a steer of the same id (`turn.steered`), as if it had been sent with `session.steer`. If the turn ends before the agent has taken it, it becomes the next turn. */
  'queue.steer': {
    params: {
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId: string
    }
    result: {
      /** the same as `turnId` of the request */
      steerId: string
      /** the turn that runs */
      turnId: string
      /** of its `turn.steered` */
      seq: number
      log: string
    }
  }
  /** The sub-agents of a session, or of one of its turns, as a tree: each after the one that runs it. The newest 500 at the most. */
  'subagents.list': {
    params: {
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId?: string | undefined
    }
    result: {
      agents: ({
        /** the call that runs it */
        callId: string
        /** the call of the sub-agent that runs this one; null: the agent itself */
        parent: string | null
        title: string
        /** as the agent calls it */
        kind: string
        state: 'running' | 'done' | 'failed' | 'refused'
        startedAt: number
        endedAt: number | null
        /** that it has made itself */
        calls: number
        /** null: the agent has not told; Claude tells when it is done */
        usage: Usage | null
        openApprovals: number
      })[]
    }
  }
  /** What turns that are over have used, in the order of time: a point for each turn, or for each agent in each hour or day. */
  'usage.series': {
    params: {
      /** id of a session */
      sessionId?: string | undefined
      /** turns that ended then or later (ms since 1970) */
      since?: number | undefined
      /** turns that ended before */
      until?: number | undefined
      by: 'turn' | 'hour' | 'day'
      /** hours and days begin by a clock so far ahead of UTC; this machine's if left out */
      offsetMinutes?: number | undefined
    }
    result: {
      points: ({
        /** when the turn ended, or when the hour or the day begins */
        at: number
        turns: number
        agent: string | null
        sessionId: string | null
        turnId: string | null
        usage: Usage
      })[]
      /** there are more: the oldest are left out */
      truncated: boolean
    }
  }
  /** Notes what you think of a session: read up to here, pinned, snoozed, settled, flags. What is not given stays. `session.marked` tells everybody. A new message takes `settled` and a snooze back; a question ends a snooze. */
  'session.mark': {
    params: {
      /** id of a session */
      sessionId: string
      /** never goes back, nor beyond the head of the log */
      readSeq?: number | undefined
      pinned?: boolean | undefined
      /** takes `settled` back; a time that has passed is as good as null */
      snoozedUntil?: number | null | undefined
      /** true ends a snooze */
      settled?: boolean | undefined
      /** all of them, in place of those it had */
      flags?: string[] | undefined
    }
    result: SessionView
  }
  /** The list of sessions, and then what changes in it, as `sessions` notifications: whole rows of the sessions that have changed, at most ten times a second, and how many sessions there are of each kind. After a lost connection watch again: the answer has all there is. */
  'session.watch': {
    params: {
      /** watch those that are archived instead; default: false */
      archived?: boolean | undefined
      /** rows in the answer: first what wants something or is pinned, then the last active; default: 500 */
      limit?: number | undefined
    }
    result: {
      watchId: string
      log: string
      /** all events up to here are told */
      seq: number
      /** the last active first */
      sessions: SessionRow[]
      counts: Counts
      /** the limit has left out some; they come when they change */
      more: boolean
    }
  }
  /** Ends a `session.watch`. */
  'session.unwatch': {
    params: {
      watchId: string
    }
    result: {
      closed: boolean
    }
  }
  /** Keeps what you have typed and not sent: one text for each session, the same on every screen. `session.drafted` tells everybody. With a `revision` that is not the current one it ends with `conflict`, unless the text is the same; `data` has the draft as it is then. When you have sent it, set an empty one. */
  'draft.set': {
    params: {
      /** id of a session */
      sessionId: string
      /** empty: there is none any more */
      text: string
      /** the one that you have changed */
      revision?: number | undefined
    }
    result: {
      revision: number
      updatedAt: number
    }
  }
  /** What somebody has typed in a session and not sent. */
  'draft.get': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      text: string
      /** how often it has been written */
      revision: number
      updatedAt: number | null
    }
  }
  /** Approvals, by default those that wait for an answer. */
  'approval.list': {
    params: {
      /** id of a session */
      sessionId?: string | undefined
      /** false: decided ones too; default: true */
      open?: boolean | undefined
      /** default: 100 */
      limit?: number | undefined
    }
    result: {
      approvals: ApprovalView[]
    }
  }
  /** One approval, open or decided. */
  'approval.get': {
    params: {
      /** id of an approval */
      approvalId: string
    }
    result: ApprovalView
  }
  /** Answers an approval. The first answer counts; a later one gets `approval_resolved`. */
  'approval.decide': {
    params: 
      | {
          /** id of an approval */
          approvalId: string
          behavior: 'allow'
          /** run the tool with this input instead */
          input?: unknown
          /** for a question: answers by question text */
          answers?: Record<string, string>
          /** and do not ask again in this session */
          forSession?: boolean
          /** nor in any other session of this directory */
          forDirectory?: boolean
          /** for the record */
          comment?: string
          /** name of the client, for the log */
          by?: string
        }
      | {
          /** id of an approval */
          approvalId: string
          behavior: 'deny'
          /** told to the agent, if it can hear it */
          comment?: string
          /** name of the client, for the log */
          by?: string
        }
      | {
          /** id of an approval */
          approvalId: string
          behavior: 'respond'
          /** a human's own words, to a question or a plan */
          text: string
          /** name of the client, for the log */
          by?: string
        }
    result: ApprovalView
  }
  /** "Not now": puts an approval off. It waits on, and can be answered at any time; `approval.deferred` tells everybody. What has a `timeoutAt` is still refused then. */
  'approval.defer': {
    params: {
      /** id of an approval */
      approvalId: string
      /** ms since 1970; null: it is not put off any more */
      until: number | null
    }
    result: ApprovalView
  }
  /** What was decided about approvals, the newest first, a page at a time: by whom, from where, and the rule that it made. */
  'approval.history': {
    params: {
      /** default: 50 */
      limit?: number | undefined
      /** `next` of the page before */
      cursor?: string | undefined
      /** id of a session */
      sessionId?: string | undefined
      /** also what mode and rules answered at once; default: false */
      automatic?: boolean | undefined
    }
    result: {
      decisions: ({
        id: string
        /** name of a machine */
        machine?: string
        /** id of a session */
        sessionId: string
        turnId: string | null
        kind: 'tool' | 'question' | 'plan'
        tool: string
        input: unknown
        /** what rules look at */
        about: {
          class: 'shell' | 'edit' | 'read' | 'fetch' | 'search' | 'mcp' | 'other'
          /** the command, each path, the address */
          subjects: string[]
          /** there is more that is not said */
          partly?: boolean
        }
        callId: string | null
        summary: string | null
        suggestions: unknown
        parent: string | null
        /** asked from outside, not by the agent's own process */
        external: boolean
        /** refused then; null: it waits for ever */
        timeoutAt: number | null
        requestedAt: number
        decision: Decision | null
        decidedBy: string | null
        decidedAt: number | null
        /** put off until then: it waits on, and nobody is to be bothered with it before; null: it is not */
        deferredUntil: number | null
        /** the session's */
        title: string | null
        agent: string
        cwd: string
        /** a human was asked; false: a mode or a rule answered at once */
        asked: boolean
        /** name of the device that it came from; null: from this machine, as `decidedBy` says */
        device: string | null
        /** what it let pass from then on; null: it was for this once */
        rule: {
          scope: 'session' | 'directory'
          /** directory that it holds in, for this session or for all */
          path: string
          /** what was added to the rules */
          text: string[]
        } | null
      })[]
      next: string | null
    }
  }
  /** What a human wants to know before deciding: what the agent said, who asks, what each answer leads to, and the edit as a diff. */
  'approval.context': {
    params: {
      /** id of an approval */
      approvalId: string
    }
    result: {
      /** what the agent said before it asked */
      lines: string[]
      /** the sub-agent that asks; null: the agent itself */
      subagent: {
        callId: string
        title: string
      } | null
      /** the rules that `forSession` and `forDirectory` would add; empty: no rule can be made of it */
      effects: {
        session: string[]
        directory: string[]
        /** the directory, where `forDirectory` would hold */
        path: string
      }
      /** what the edit would change, as far as its input tells; of a piece of a file, lines are counted from the beginning of the piece. null: it is no edit, or it does not tell */
      files: FileChange[] | null
    }
  }
  /** Asks a human, for something that runs elsewhere. Mode and rules may answer at once. */
  'approval.request': {
    params: {
      /** id of a session */
      sessionId: string
      /** default: "tool" */
      kind?: 'tool' | 'question' | 'plan' | undefined
      /** what is about to be used, or what asks */
      tool: string
      /** what is about to be done; for a question: `{ questions: […] }`; default: null */
      input?: unknown
      /** it changes files and does nothing else; default: false */
      edits?: boolean | undefined
      /** the tool call that it is about */
      callId?: string | null | undefined
      summary?: string | null | undefined
      /** refused when nobody answers for so long; null waits for ever; as the session says if left out */
      timeoutMs?: number | null | undefined
      /** the same id twice is one question */
      id?: string | undefined
    }
    result: ApprovalView
  }
  /** Answers when the approval is decided, or as it is when the time is up. */
  'approval.wait': {
    params: {
      /** id of an approval */
      approvalId: string
      /** default: 25000 */
      timeoutMs?: number | undefined
    }
    result: ApprovalView
  }
  /** Takes a question back that nobody has answered yet. */
  'approval.withdraw': {
    params: {
      /** id of an approval */
      approvalId: string
      /** name of the client, for the log; default: "native" */
      by?: string | undefined
    }
    result: ApprovalView
  }
  /** Directories with rules of their own. */
  'directory.list': {
    params: Record<string, never>
    result: {
      directories: ({
        /** the rules hold for every session in this directory and below */
        path: string
        rules: Rules
      })[]
    }
  }
  /** Rules for every session in a directory and below. What is open and now allowed or refused is answered. */
  'directory.configure': {
    params: {
      /** an absolute path */
      path: string
      /** what is given replaces what was */
      rules: {
        /** what passes: `edit`, `mcp__files__*`, `shell(git log*)`; see rules.md */
        allow?: string[]
        /** what is refused; wins over everything else */
        deny?: string[]
        /** edits of files pass */
        acceptEdits?: boolean
        /** everything passes until this time (ms since 1970) */
        skipUntil?: number | null
      }
    }
    result: {
      /** the rules hold for every session in this directory and below */
      path: string
      rules: Rules
    }
  }
  /** What is at a path, for somebody who looks for a directory to work in. Reads names only. */
  'directory.look': {
    params: {
      /** absolute, or from the home directory; `~` is that, too */
      path: string
    }
    result: {
      /** absolute */
      path: string
      isDirectory: boolean
      /** a session there can have a worktree of its own */
      inRepository: boolean
      /** names of those in it, without hidden ones; at most 500 */
      directories: readonly string[]
      truncated: boolean
    }
  }
  /** Says which rules cannot do what they seem to, and why: agents do not ask about everything. */
  'rules.check': {
    params: {
      rules: {
        /** what passes: `edit`, `mcp__files__*`, `shell(git log*)`; see rules.md */
        allow?: string[]
        /** what is refused; wins over everything else */
        deny?: string[]
        /** edits of files pass */
        acceptEdits?: boolean
        /** everything passes until this time (ms since 1970) */
        skipUntil?: number | null
      }
      /** for this agent; else for all that are installed */
      agent?: string | undefined
    }
    result: {
      warnings: ({
        rule: string
        message: string
      })[]
    }
  }
  /** Brings the result of a tool of yours that the agent waits for (`call.held`). */
  'call.answer': {
    params: {
      /** id of a session */
      sessionId: string
      callId: string
      /** a text, or pieces of text and images (base64) */
      result: string | Content[]
      /** default: false */
      isError?: boolean | undefined
    }
    result: {
      answered: true
    }
  }
  /** Reads the log, ascending by `seq`: on from `after`, or the last ones before `before`. */
  'events.read': {
    params: {
      /** a `seq` of the log */
      after?: number | undefined
      /** a `seq` of the log */
      before?: number | undefined
      /** the log that the cursor belongs to */
      log?: string | undefined
      /** id of a session */
      sessionId?: string | undefined
      /** id of a turn */
      turnId?: string | undefined
      /** only events of these types */
      types?: ('agent.init' | 'agent.model' | 'turn.accepted' | 'message.delta' | 'message.completed' | 'tool.started' | 'tool.completed' | 'agent.context' | 'agent.compacting' | 'agent.compacted' | 'agent.limits' | 'checkpoint.taken' | 'checkpoint.restored' | 'review.added' | 'review.updated' | 'review.removed' | 'review.sent' | 'agent.plan' | 'agent.commands' | 'agent.notice' | 'agent.other' | 'session.created' | 'session.changed' | 'session.status' | 'session.marked' | 'session.drafted' | 'session.destroyed' | 'turn.queued' | 'turn.started' | 'turn.retried' | 'turn.interrupting' | 'turn.steered' | 'turn.steer_accepted' | 'turn.completed' | 'turn.failed' | 'turn.interrupted' | 'turn.moved' | 'turn.edited' | 'turn.cancelled' | 'approval.requested' | 'approval.resolved' | 'approval.deferred' | 'approval.delivered' | 'call.held' | 'call.answered' | 'call.delivered' | 'call.dropped' | 'agent.started' | 'agent.exited' | 'daemon.renamed' | 'directory.changed' | 'project.created' | 'project.updated' | 'project.deleted' | 'project.repo_added' | 'project.repo_removed' | 'device.paired' | 'device.renamed' | 'device.revoked')[] | undefined
      /** leave deltas out; default: false */
      whole?: boolean | undefined
      /** without what has happened on other machines */
      own?: boolean | undefined
      /** default: 200 */
      limit?: number | undefined
    }
    result: {
      log: string
      /** a `seq` of the log */
      head: number
      /** a `seq` of the log */
      oldest: number
      more: boolean
      events: Event[]
    }
  }
  /** The conversation in order, without deltas; the last `limit` items, or those before `before`. That of a session that branched off begins with what was said before. */
  'history.read': {
    params: {
      /** id of a session */
      sessionId: string
      /** `next` of the page after */
      before?: number | undefined
      /** with what was said in the sessions that it branched off; default: true */
      ancestors?: boolean | undefined
      /** default: 100 */
      limit?: number | undefined
    }
    result: {
      log: string
      /** a `seq` of the log */
      head: number
      /** a `seq` of the log */
      oldest: number
      items: HistoryItem[]
      /** `before` for the items before these; null at the beginning */
      next: number | null
    }
  }
  /** Events after a cursor, first from the log, then live, as `events` notifications. No gap, no repeat. */
  'events.subscribe': {
    params: {
      /** the last `seq` that the client has; default: "now" */
      after?: number | 'now' | undefined
      /** the log that the cursor belongs to */
      log?: string | undefined
      /** id of a session */
      sessionId?: string | undefined
      /** only events of these types */
      types?: ('agent.init' | 'agent.model' | 'turn.accepted' | 'message.delta' | 'message.completed' | 'tool.started' | 'tool.completed' | 'agent.context' | 'agent.compacting' | 'agent.compacted' | 'agent.limits' | 'checkpoint.taken' | 'checkpoint.restored' | 'review.added' | 'review.updated' | 'review.removed' | 'review.sent' | 'agent.plan' | 'agent.commands' | 'agent.notice' | 'agent.other' | 'session.created' | 'session.changed' | 'session.status' | 'session.marked' | 'session.drafted' | 'session.destroyed' | 'turn.queued' | 'turn.started' | 'turn.retried' | 'turn.interrupting' | 'turn.steered' | 'turn.steer_accepted' | 'turn.completed' | 'turn.failed' | 'turn.interrupted' | 'turn.moved' | 'turn.edited' | 'turn.cancelled' | 'approval.requested' | 'approval.resolved' | 'approval.deferred' | 'approval.delivered' | 'call.held' | 'call.answered' | 'call.delivered' | 'call.dropped' | 'agent.started' | 'agent.exited' | 'daemon.renamed' | 'directory.changed' | 'project.created' | 'project.updated' | 'project.deleted' | 'project.repo_added' | 'project.repo_removed' | 'device.paired' | 'device.renamed' | 'device.revoked')[] | undefined
      /** without what has happened on other machines */
      own?: boolean | undefined
    }
    result: {
      subscriptionId: string
      log: string
      /** a `seq` of the log */
      after: number
      /** events between the cursor and the first one are gone for good */
      gap: boolean
    }
  }
  /** Ends a subscription. */
  'events.unsubscribe': {
    params: {
      subscriptionId: string
    }
    result: {
      closed: boolean
    }
  }
  /** Up to where a client has certainly read turns of its own, for adapters that answer for others. */
  'bookmark.list': {
    params: {
      /** name of the client, for the log */
      owner: string
      /** id of a session */
      sessionId: string
    }
    result: {
      bookmarks: ({
        owner: string
        /** id of a session */
        sessionId: string
        /** id of a turn */
        turnId: string
        /** a `seq` of the log */
        seq: number
      })[]
    }
  }
  /** Keeps a bookmark. */
  'bookmark.set': {
    params: {
      /** name of the client, for the log */
      owner: string
      /** id of a session */
      sessionId: string
      /** id of a turn */
      turnId: string
      /** a `seq` of the log */
      seq: number
    }
    result: Record<string, never>
  }
  /** Drops a bookmark. */
  'bookmark.delete': {
    params: {
      /** name of the client, for the log */
      owner: string
      /** id of a turn */
      turnId: string
    }
    result: Record<string, never>
  }
  /** The events of the newest part of a conversation, or of the part before `before`, and what was under way when it began: a client folds them as the daemon does, and goes on with `events.subscribe` after `seq`. Parts of what a session branched off come before its own. Outputs of tools, long inputs and large pictures are left out; `events.read` has them. Pieces of a message that is not complete are one event. */
  'conversation.read': {
    params: {
      /** id of a session */
      sessionId: string
      /** `next` of the page after */
      before?: number | undefined
      /** messages, calls and the like; a page may have a few events more; default: 200 */
      limit?: number | undefined
    }
    result: {
      log: string
      /** the last event of the log that is considered */
      seq: number
      /** the session that these are events of: this one, or one that it branched off */
      of: string
      under: ConversationParts
      events: Event[]
      /** `before` for the part before this one; null at the beginning */
      next: number | null
      /** ids of the messages that wait now, in order */
      queue: string[]
      /** the agent's plan, as it was at the end of this part */
      plan: PlanEntry[] | null
    }
  }
  /** Finds what users said and agents answered: all of the words, `"words in a row"`, `begin*`; the last word may be a beginning, from its third letter on. The most relevant first, then the newest. Nothing that is typed is an error. */
  'messages.search': {
    params: {
      text: string
      /** id of a session */
      sessionId?: string | undefined
      /** default: 20 */
      limit?: number | undefined
      /** `next` of the page before */
      cursor?: string | undefined
    }
    result: {
      hits: SearchHit[]
      next: string | null
    }
  }
  /** Projects: named workspaces with repositories, in the order in which they were made. */
  'project.list': {
    params: Record<string, never>
    result: {
      projects: Project[]
    }
  }
  /** One project. */
  'project.get': {
    params: {
      /** id of a project */
      projectId: string
    }
    result: Project
  }
  /** Makes a project, with its first repositories or not at all. */
  'project.create': {
    params: {
      name: string
      /** its repositories are below it */
      rootPath?: string | null | undefined
      description?: string | null | undefined
      orgSlug?: string | null | undefined
      /** absolute paths of its first repositories */
      repos?: string[] | undefined
      /** the same id twice is one project */
      id?: string | undefined
    }
    result: Project
  }
  /** Changes what is given of a project. */
  'project.update': {
    params: {
      /** id of a project */
      projectId: string
      name?: string | undefined
      /** its repositories are below it */
      rootPath?: string | null | undefined
      description?: string | null | undefined
      orgSlug?: string | null | undefined
    }
    result: Project
  }
  /** Forgets a project. Its repositories stay where they are. */
  'project.delete': {
    params: {
      /** id of a project */
      projectId: string
    }
    result: {
      /** id of a project */
      projectId: string
    }
  }
  /** Adds a git repository to a project. */
  'project.addRepo': {
    params: {
      /** id of a project */
      projectId: string
      /** absolute path of a repository */
      path: string
    }
    result: Project
  }
  /** Takes a repository out of a project. It stays where it is. */
  'project.removeRepo': {
    params: {
      /** id of a project */
      projectId: string
      /** absolute path of a repository */
      path: string
    }
    result: Project
  }
  /** The git worktrees that sessions have for themselves; also those with work of sessions that were removed. */
  'worktree.list': {
    params: Record<string, never>
    result: {
      worktrees: ({
        sessionId: string
        path: string
        /** the checkout that it was made from, and is merged into */
        from: string | null
        /** what is checked out in it now */
        branch: string | null
        /** the commit that its changes are counted from */
        base: string | null
      })[]
    }
  }
  /** What a session has changed in its own worktree, new files included. */
  'worktree.diff': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      text: string
      truncated: boolean
    }
  }
  /** Brings that into the branch that is checked out in the repository. Unless it succeeds, nothing there is touched. */
  'worktree.merge': {
    params: {
      /** id of a session */
      sessionId: string
      /** of the commit */
      message?: string | undefined
    }
    result: {
      /** `conflict`, `blocked`: nothing was touched */
      outcome: 'merged' | 'nothing' | 'conflict' | 'blocked'
      /** that the branch is at now */
      commit?: string
      how?: 'fast-forward' | 'merge' | 'squash'
      /** what blocks: no branch, uncommitted changes in the way, or a merge or rebase under way */
      why?: 'detached' | 'uncommitted' | 'unfinished'
      /** those in conflict, or in the way */
      files?: readonly string[]
    }
  }
  /** Commits all that is uncommitted in the worktree to the branch that is checked out in it, to be pushed from there. */
  'worktree.commit': {
    params: {
      /** id of a session */
      sessionId: string
      /** of the commit */
      message?: string | undefined
    }
    result: {
      /** id of a session */
      sessionId: string
      /** that the branch is at now */
      commit: string
      /** commits since the one that its changes are counted from */
      ahead: number
    }
  }
  /** Removes the worktree with its branch; with `force` also work that is nowhere else. Its session can only be read then. */
  'worktree.discard': {
    params: {
      /** id of a session */
      sessionId: string
      /** default: false */
      force?: boolean | undefined
    }
    result: {
      /** id of a session */
      sessionId: string
    }
  }
  /** What is in a directory of a session: folders first, then by name, 2,000 at the most. A path that leads through a link or out of the session's directory is refused (`invalid`). */
  'files.list': {
    params: {
      /** id of a session */
      sessionId: string
      /** empty: the directory itself; default: "" */
      path?: string | undefined
    }
    result: {
      path: string
      entries: ({
        name: string
        kind: 'file' | 'directory' | 'link' | 'other'
        /** in bytes, of files */
        size: number | null
        modifiedAt: number
      })[]
      truncated: boolean
    }
  }
  /** A file of a session: a piece of a text, or a whole image (PNG, JPEG, GIF, WebP) of up to 5 MiB. The next piece begins at `offset` and as many bytes further as `text` has in UTF-8. Links are refused as in `files.list`. */
  'files.read': {
    params: {
      /** id of a session */
      sessionId: string
      /** below the session's directory */
      path: string
      /** in bytes; default: 0 */
      offset?: number | undefined
      /** in bytes; default: 1048576 */
      limit?: number | undefined
    }
    result: {
      path: string
      /** null: it is no text */
      text: string | null
      /** of an image */
      base64: string | null
      /** of an image, by its first bytes */
      mediaType: string | null
      size: number
      /** there is more behind it; or the image is too large */
      truncated: boolean
      modifiedAt: number
    }
  }
  /** Files of a session whose path has these letters in this order, the best first: what git tracks or does not ignore, or without a repository what a short walk finds. */
  'files.find': {
    params: {
      /** id of a session */
      sessionId: string
      query: string
      /** default: 20 */
      limit?: number | undefined
    }
    result: {
      files: ({
        path: string
        score: number
      })[]
      /** there are more */
      truncated: boolean
    }
  }
  /** What has changed in the work tree that a session works in, new files included. Paths are below the root of the work tree. At most 1,000 files, 2,000 lines of each and 20,000 in all; with `path`, more of one file. Nothing is written into the repository. */
  'changes.read': {
    params: {
      /** id of a session */
      sessionId: string
      /** `turn`: what happened to the files during a turn; `session`: since its first checkpoint; `branch`: since it left the default branch, or its worktree was made; `uncommitted`: since the last commit */
      scope: 'turn' | 'session' | 'branch' | 'uncommitted'
      /** of `turn`: the last one if not given */
      turnId?: string | undefined
      /** only this file */
      path?: string | undefined
      /** which files, and how many lines of each, but no line of any */
      brief?: boolean | undefined
    }
    result: {
      /** `turn`: what happened to the files during a turn; `session`: since its first checkpoint; `branch`: since it left the default branch, or its worktree was made; `uncommitted`: since the last commit */
      scope: 'turn' | 'session' | 'branch' | 'uncommitted'
      turnId: string | null
      /** the commit or tree that it is compared with */
      base: string | null
      files: FileChange[]
      truncated: boolean
      /** why there is nothing to show */
      reason: string | null
    }
  }
  /** The states of its files that a session can go back to, the newest first, 100 at the most: before each turn, and before each restoration. Only in a git repository; what is ignored, and untracked files of more than 20 MiB, are not in them. */
  'checkpoint.list': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      checkpoints: ({
        /** the turn that it was taken before; of an `undo`, an id of its own */
        turnId: string
        kind: 'turn' | 'undo'
        at: number
        /** hidden, in the repository */
        ref: string
        tree: string
        /** how many files the turn has changed; null: not known */
        files: number | null
        /** files that are not in it, because they are too large, say */
        left: string[]
      })[]
      /** why there are none */
      reason: string | null
    }
  }
  /** What `checkpoint.restore` would do, and what speaks against it. */
  'checkpoint.preview': {
    params: {
      /** id of a session */
      sessionId: string
      /** whose checkpoint; or the id of an `undo` */
      turnId: string
    }
    result: {
      /** from what is there now to what would be there */
      files: FileChange[]
      truncated: boolean
      /** files that somebody else has changed since the last turn, or that are in the way */
      conflicts: ({
        path: string
        why: string
      })[]
      canRestore: boolean
      /** why it cannot be restored, or what to know before */
      reason: string | null
    }
  }
  /** Brings the files back to that state; commits, the index and ignored files stay as they are. What is there now is kept first, as `undo`. Refused with `unsaved_work` where it would change files that somebody else has changed since the last turn of the session, and with `conversation_busy` while a turn runs in the work tree. */
  'checkpoint.restore': {
    params: {
      /** id of a session */
      sessionId: string
      /** whose checkpoint; or the id of an `undo` */
      turnId: string
      /** also files that are somebody else's work; default: false */
      force?: boolean | undefined
    }
    result: {
      /** files that were changed */
      restored: number
      undo: {
        /** restore this to undo it */
        turnId: string
      }
    }
  }
  /** A comment on lines of a change. It waits with the others until `review.send`; 500 may wait. */
  'review.add': {
    params: {
      /** id of a session */
      sessionId: string
      path: string
      /** which version the lines are counted in */
      side: 'old' | 'new'
      line: number
      /** `line` if not given */
      endLine?: number | undefined
      text: string
      /** what the line was shown in, as in `changes.read` */
      hunk: Hunk
    }
    result: {
      /** id of a comment */
      id: string
      /** id of a session */
      sessionId: string
      path: string
      /** which version the lines are counted in */
      side: 'old' | 'new'
      line: number
      endLine: number
      text: string
      /** the lines that it speaks about, and three around them */
      hunk: Hunk
      createdAt: number
      /** the lines that it speaks about are not there any more; if they had been removed: are there again */
      stale: boolean
      /** the turn in which the agent was told; null: it was not */
      sentIn: string | null
    }
  }
  /** Another text for a comment that was not sent. */
  'review.update': {
    params: {
      /** id of a comment */
      commentId: string
      text: string
    }
    result: {
      /** id of a comment */
      id: string
      /** id of a session */
      sessionId: string
      path: string
      /** which version the lines are counted in */
      side: 'old' | 'new'
      line: number
      endLine: number
      text: string
      /** the lines that it speaks about, and three around them */
      hunk: Hunk
      createdAt: number
      /** the lines that it speaks about are not there any more; if they had been removed: are there again */
      stale: boolean
      /** the turn in which the agent was told; null: it was not */
      sentIn: string | null
    }
  }
  /** Removes a comment. */
  'review.remove': {
    params: {
      /** id of a comment */
      commentId: string
    }
    result: {
      /** id of a comment */
      commentId: string
    }
  }
  /** The comments of a session, the oldest first: all that were not sent, and the 500 newest that were. Whether one is stale is found out now. */
  'review.list': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      comments: ({
        /** id of a comment */
        id: string
        /** id of a session */
        sessionId: string
        path: string
        /** which version the lines are counted in */
        side: 'old' | 'new'
        line: number
        endLine: number
        text: string
        /** the lines that it speaks about, and three around them */
        hunk: Hunk
        createdAt: number
        /** the lines that it speaks about are not there any more; if they had been removed: are there again */
        stale: boolean
        /** the turn in which the agent was told; null: it was not */
        sentIn: string | null
      })[]
    }
  }
  /** Sends comments as one message: of each its path, its lines, the code and the text. They are marked as sent in the same commit. */
  'review.send': {
    params: {
      /** id of a session */
      sessionId: string
      /** all that were not sent, if not given */
      commentIds?: string[] | undefined
      /** what the message begins with */
      note?: string | undefined
      /** as in `session.send`; default: "queue" */
      busy?: 'queue' | 'steer' | undefined
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: {
      /** id of a turn */
      turnId: string
      /** 0: running now; n: n messages are before it */
      position: number
      /** of its `turn.queued` or `turn.steered`: follow the turn from just before here */
      seq: number
      /** the key was known; nothing new happened */
      repeated: boolean
      /** the turn that it was brought to; if that ends without it, it becomes the turn `turnId` */
      steered?: string
      log: string
      /** those that were sent */
      comments: string[]
    }
  }
  /** A PIN of six digits that lets one device in, once. Five wrong tries, whoever makes them, and every PIN is void. */
  'device.pin': {
    params: {
      /** what the device may do; default: ["use"] */
      scopes?: ('use' | 'manage')[] | undefined
      /** draw the QR code; default: false */
      svg?: boolean | undefined
    }
    result: {
      pin: string
      expiresAt: number
      /** where ClawDE’s applications connect; null: nobody listens for them */
      url: string | null
      /** where programs that speak this API connect; null: the front door is closed */
      native: string | null
      /** where a browser is let in to the dashboard; null: the front door is closed */
      page: string | null
      /** whether any of them is reached from other machines */
      reachable: boolean
      /** what a QR code says to ClawDE’s mobile application */
      qr: string | null
      /** that QR code as a picture */
      svg?: string
      /** `page` as a QR code, for the camera of a phone */
      pageSvg?: string
    }
  }
  /** Lets a device in. Its token is shown here and never again; Corral keeps only a hash of it. On a WebSocket it needs no token: the PIN is enough. */
  'device.pair': {
    params: {
      pin: string
      name: string
      /** default: "other" */
      platform?: 'ios' | 'android' | 'macos' | 'windows' | 'linux' | 'web' | 'other' | undefined
    }
    result: {
      device: Device
      token: string
    }
  }
  /** The devices that were let in, without their tokens. */
  'device.list': {
    params: Record<string, never>
    result: {
      devices: Device[]
    }
  }
  /** Gives a device another name. */
  'device.rename': {
    params: {
      /** id of a device */
      deviceId: string
      name: string
    }
    result: Device
  }
  /** Puts a device out: its token is worth nothing from now on, its connections are closed. */
  'device.revoke': {
    params: {
      /** id of a device */
      deviceId: string
    }
    result: {
      /** id of a device */
      deviceId: string
    }
  }
  /** A code that signs one browser in to the dashboard, once, within a minute, as whoever asks for it. Fails with `unsupported` when Corral’s own port is closed. */
  'door.code': {
    params: Record<string, never>
    result: {
      code: string
      /** where a browser goes with it; the code stands behind the `#` */
      url: string
      expiresAt: number
    }
  }
  /** Who has signed in, which keys there are, and what is under way. No keychain is opened for it. */
  'signin.status': {
    params: Record<string, never>
    result: {
      accounts: ({
        provider: 'openai' | 'antigravity'
        accountId: string | null
        profile: {
          email: string | null
          name: string | null
          picture?: string
        } | null
        loginMethod: 'browser' | 'device_code'
        signedInAt: number
        /** where the secret is */
        place: 'keychain' | 'file'
        /** the agent's own file that Corral has written */
        loginFile: string | null
      })[]
      keys: ({
        name: 'anthropic' | 'exa' | 'gemini' | 'openrouter'
        /** where the secret is */
        place: 'keychain' | 'file'
      })[]
      /** under way */
      flows: ({
        flowId: string
        provider: 'openai' | 'antigravity'
      })[]
    }
  }
  /** Begins to sign in; `signin.flow` tells how it goes. A provider has one flow at a time: a second start joins the first, unless it asks for another way, and then takes its place. */
  'signin.start': {
    params: {
      provider: 'openai' | 'antigravity'
      /** `auto`: a code to type where there is no browser and the issuer has such codes, else the browser; default: "auto" */
      mode?: 'auto' | 'browser' | 'device_code' | undefined
      /** whether the person has no browser on this machine; by default as the daemon's environment has it */
      headless?: boolean | undefined
      /** the sign-in ends with this connection, however that ends, if it has begun here; default: false */
      attended?: boolean | undefined
    }
    result: {
      flowId: string
      joined: boolean
    }
  }
  /** The events of a sign-in after `after`. Waits for the next one if there is none yet. */
  'signin.flow': {
    params: {
      /** id of a sign-in */
      flowId: string
      /** the index of an event; default: 0 */
      after?: number | undefined
      /** how long to wait at the most; default: 0 */
      waitMs?: number | undefined
    }
    result: {
      flowId: string
      provider: 'openai' | 'antigravity'
      state: 'running' | 'completed' | 'failed'
      events: (
        | {
            type: 'started'
            /** counts the events of a flow from 1 */
            index: number
            at: number
            flowId: string
            provider: 'openai' | 'antigravity'
          }
        | {
            type: 'url'
            /** counts the events of a flow from 1 */
            index: number
            at: number
            flowId: string
            provider: 'openai' | 'antigravity'
            url: string
          }
        | {
            type: 'device_code'
            /** counts the events of a flow from 1 */
            index: number
            at: number
            flowId: string
            provider: 'openai' | 'antigravity'
            verificationUrl: string
            userCode: string
            intervalSeconds: number
            expiresInSeconds: number
          }
        | {
            type: 'completed'
            /** counts the events of a flow from 1 */
            index: number
            at: number
            flowId: string
            provider: 'openai' | 'antigravity'
            loginMethod: 'browser' | 'device_code'
            accountId: string | null
            profile: {
              email: string | null
              name: string | null
              picture?: string
            } | null
          }
        | {
            type: 'failed'
            /** counts the events of a flow from 1 */
            index: number
            at: number
            flowId: string
            provider: 'openai' | 'antigravity'
            message: string
            cancelled: boolean
          })[]
    }
  }
  /** Ends a sign-in that is under way. */
  'signin.cancel': {
    params: {
      /** id of a sign-in */
      flowId: string
    }
    result: {
      /** false: it was over */
      cancelled: boolean
    }
  }
  /** Keeps a key for the agents that use it. It is never shown again. */
  'signin.setKey': {
    params: {
      name: 'anthropic' | 'exa' | 'gemini' | 'openrouter'
      key: string
    }
    result: {
      /** where the secret is */
      place: 'keychain' | 'file'
      /** why it is not in the keychain */
      why: string | null
    }
  }
  /** Signs out of a provider, or forgets a key; a sign-in that is under way ends. */
  'signin.forget': {
    params: {
      name: 'openai' | 'antigravity' | 'anthropic' | 'exa' | 'gemini' | 'openrouter'
    }
    result: {
      /** false: there was nothing */
      forgotten: boolean
      /** the agent's login file that was left, since it is not as Corral wrote it */
      keptFile: string | null
    }
  }
  /** A first look at Corral: a session of the demo agent in a worktree of a fresh repository, both in the data directory. It says what it does, writes two files for real, and asks before it runs their test. Without git it works in a plain directory. */
  'demo.session': {
    params: {
      /** name of the client, for the log */
      origin?: string | undefined
    }
    result: SessionView
  }
  /** Memory that the machine, the daemon and its agents use now, with every session that has a process. */
  'system.resources': {
    params: Record<string, never>
    result: {
      at: number
      /** memory of the machine */
      totalBytes: number
      usedBytes: number
      daemonBytes: number
      /** all processes of all agents, with all that they have started */
      agentsBytes: number
      /** sessions, by tier */
      active: number
      warm: number
      cold: number
      /** those that are not cold */
      sessions: ({
        sessionId: string
        agent: string
        tier: 'active' | 'warm' | 'cold'
        pid: number | null
        /** sessions in one process share it evenly */
        bytes: number
        activeAt: number
      })[]
    }
  }
  /** The same minute by minute for the last day, without the sessions; the newest first. */
  'system.history': {
    params: {
      /** minutes; default: 60 */
      limit?: number | undefined
    }
    result: {
      samples: ({
        at: number
        /** memory of the machine */
        totalBytes: number
        usedBytes: number
        daemonBytes: number
        /** all processes of all agents, with all that they have started */
        agentsBytes: number
        /** sessions, by tier */
        active: number
        warm: number
        cold: number
      })[]
    }
  }
  /** How the relay is doing: who answers, the agents that wait, the calls under way. */
  'relay.overview': {
    params: Record<string, never>
    result: {
      /** `off`: it does not listen. `unused`: nobody has called yet, and nothing of it is loaded */
      state: 'off' | 'unused' | 'open'
      /** where programs call it */
      address: string | null
      /** who answers first */
      agent: string | null
      /** why that agent cannot be asked */
      missing: string | null
      pool: {
        /** agents that wait for a call */
        idle: number
        /** sessions with a name, and calls that stand for themselves */
        active: number
        spawning: number
      } | null
      providers: ({
        provider: string
        status: 'ok' | 'degraded' | 'unavailable'
        reason: string | null
        /** when it is asked again */
        retryAt: number | null
      })[]
      license: {
        /** there is a key */
        configured: boolean
        valid: boolean
        tier: string
        usageThisMonth: number
        usageCap: number | null
      } | null
      runningCount: number
      /** calls that are not over, the oldest first; at most 100 */
      running: ({
        id: string
        /** the client's name for the session */
        sessionId: string | null
        model: string
        startedAt: number
      })[]
    }
  }
  /** Calls that are over, the newest first; the relay keeps the last 1,000. */
  'relay.calls': {
    params: {
      /** default: 50 */
      limit?: number | undefined
      /** a `seq`: only newer ones */
      after?: number | undefined
      /** a `seq`: only older ones */
      before?: number | undefined
    }
    result: {
      calls: ({
        seq: number
        id: string
        sessionId: string
        startedAt: number
        completedAt: number
        model: string
        /** who answered; null: nobody */
        provider: string | null
        inputTokens: number
        outputTokens: number
        /** what an API would have cost, at its provider's prices */
        costAvoidedUsd: number
        status: 'success' | 'error'
        error: string | null
        stopReason: string | null
        /** who was asked before, and why they did not answer */
        fallbackChain: ({
          provider: string
          error: string
        })[]
        /** only if the settings say that prompts are kept */
        promptPreview: string | null
      })[]
      more: boolean
    }
  }
  /** Calls, tokens and cost avoided by the hour or by the day, the oldest first, for about three months. Times without a call are left out. */
  'relay.series': {
    params: {
      /** default: 0 */
      since?: number | undefined
      until?: number | undefined
      /** days are those of the daemon's time zone; default: "hour" */
      by?: 'hour' | 'day' | undefined
    }
    result: {
      points: ({
        /** when the hour or the day began */
        at: number
        calls: number
        errors: number
        inputTokens: number
        outputTokens: number
        costAvoidedUsd: number
      })[]
    }
  }
  /** The relay's settings. Of a key it says only that there is one. */
  'relay.settings.get': {
    params: Record<string, never>
    result: {
      agent: string
      mode: 'auto' | 'code' | 'plan' | 'ask'
      /** null: a directory of the relay's own */
      workingDir: string | null
      /** the agent keeps its own tools */
      builtinToolsEnabled: boolean
      poolSize: number
      /** agents wait also when nobody has called for long */
      prewarm: boolean
      /** beginnings of prompts and answers are kept with the calls */
      storePrompts: boolean
      licenseUrl: string | null
      hasLicenseKey: boolean
      /** in USD for a million tokens, by model */
      prices: Record<string, {
        input: number
        output: number
      }>
      /** asked in this order when the agent cannot answer */
      upstreams: ({
        name: string
        /** whose API it speaks */
        kind: 'anthropic' | 'openai'
        baseUrl: string
        /** asked for instead of any other */
        model: string | null
        /** names of models, and what they are called there */
        models: Record<string, string>
        hasKey: boolean
      })[]
    }
  }
  /** Changes the settings that are named, all of them or none. They hold from the next call on. */
  'relay.settings.set': {
    params: {
      agent?: string | undefined
      mode?: 'auto' | 'code' | 'plan' | 'ask' | undefined
      workingDir?: string | null | undefined
      builtinToolsEnabled?: boolean | undefined
      poolSize?: number | undefined
      prewarm?: boolean | undefined
      storePrompts?: boolean | undefined
      licenseUrl?: string | null | undefined
      /** never shown again */
      licenseKey?: string | null | undefined
      /** in USD for a million tokens, by model */
      prices?: Record<string, {
        input: number
        output: number
      }>
      upstreams?: ({
        name: string
        /** whose API it speaks */
        kind: 'anthropic' | 'openai'
        baseUrl: string
        model?: string | null
        models?: Record<string, string>
        /** left out: the key that this name has, if the address has the same origin; null: none */
        apiKey?: string | null
      })[]
    }
    result: {
      agent: string
      mode: 'auto' | 'code' | 'plan' | 'ask'
      /** null: a directory of the relay's own */
      workingDir: string | null
      /** the agent keeps its own tools */
      builtinToolsEnabled: boolean
      poolSize: number
      /** agents wait also when nobody has called for long */
      prewarm: boolean
      /** beginnings of prompts and answers are kept with the calls */
      storePrompts: boolean
      licenseUrl: string | null
      hasLicenseKey: boolean
      /** in USD for a million tokens, by model */
      prices: Record<string, {
        input: number
        output: number
      }>
      /** asked in this order when the agent cannot answer */
      upstreams: ({
        name: string
        /** whose API it speaks */
        kind: 'anthropic' | 'openai'
        baseUrl: string
        /** asked for instead of any other */
        model: string | null
        /** names of models, and what they are called there */
        models: Record<string, string>
        hasKey: boolean
      })[]
    }
  }
  /** The other machines, and whether they are there. */
  'machine.list': {
    params: Record<string, never>
    result: {
      machines: ({
        /** name of a machine */
        name: string
        /** how it is reached: a host for ssh, the path of a socket, or `nats (fleet)` */
        target: string
        /** of it that are known here */
        sessions: number
        state: 'here' | 'connecting' | 'away'
        /** of Corral there */
        version?: string
        /** events there that are not here yet, as far as is known */
        behind?: number
        /** why it is away */
        reason?: string
        /** when it went away */
        since?: number
      })[]
      /** this machine in a fleet on NATS */
      fleet?: {
        /** of this machine */
        name: string
        state: 'joined' | 'joining'
        /** why it is not in it yet */
        reason?: string | null
      }
    }
  }
  /** Adds a machine: its sessions appear among yours, and what you do with them is done there. It is tried first; `machine_unreachable` says why it does not answer. */
  'machine.add': {
    params: {
      /** name of a machine */
      name: string
      target: string
    }
    result: {
      /** name of a machine */
      name: string
      /** how it is reached: a host for ssh, the path of a socket, or `nats (fleet)` */
      target: string
      /** of it that are known here */
      sessions: number
      state: 'here' | 'connecting' | 'away'
      /** of Corral there */
      version?: string
      /** events there that are not here yet, as far as is known */
      behind?: number
      /** why it is away */
      reason?: string
      /** when it went away */
      since?: number
    }
  }
  /** Takes a machine out. Its sessions disappear here; there nothing changes. */
  'machine.remove': {
    params: {
      /** name of a machine */
      name: string
    }
    result: {
      /** name of a machine */
      name: string
    }
  }
  /** For other machines: who this one is, and how far its log is. */
  'member.hello': {
    params: Record<string, never>
    result: {
      version: string
      protocol: number
      log: string
      /** a `seq` of the log */
      head: number
    }
  }
  /** For other machines: the ids of the sessions that run here. */
  'member.sessions': {
    params: Record<string, never>
    result: {
      ids: string[]
    }
  }
  /** For other machines: what a session begins with whose beginning has left the log. */
  'member.beginning': {
    params: {
      /** id of a session */
      sessionId: string
    }
    result: {
      events: Event[]
    }
  }
  /** For other machines: keeps what one of their protocols has to remember about a session. */
  'member.note': {
    params: {
      /** id of a session */
      sessionId: string
      notes: Record<string, unknown>
    }
    result: Record<string, never>
  }
  /** For other machines: calls a method on behalf of somebody there, with no more rights than they have; what it ends with is what this ends with. */
  'member.call': {
    params: {
      method: string
      params: unknown
      /** the device that asks there; null: the owner */
      caller: {
        name: string
        scopes: ('use' | 'manage')[]
      } | null
    }
    result: {
      result: unknown
      /** of its own events, when it was done */
      head: number
    }
  }
}
