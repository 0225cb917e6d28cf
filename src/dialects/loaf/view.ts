import { emptyConversation, type Conversation } from '../../core/conversation/conversation.ts'
import type { UserMessage } from '../../core/conversation/item.ts'
import { Compactions } from './compaction.ts'
import { saidIn, type Stopper } from './messages.ts'
import type { Chosen } from './ports.ts'
import type { PromptQueue } from './prompt-queue.ts'
import { SessionRecord, type RecordOptions } from './record.ts'
import { newRounds, type ToolRounds } from './tool-rounds.ts'

/** A session as this protocol sees it: what is under way in it, and what the protocol itself keeps beside that. */
export interface View {
  conversation: Conversation
  readonly record: SessionRecord
  readonly queue: PromptQueue
  readonly compactions: Compactions
  rounds: ToolRounds
  /** Who has cut off the turn that runs. */
  stopper: Stopper
  /** What the agent has said in its last turn, as far as it has finished saying it. */
  answer: string
  /** The names of the images of messages that were sent from here, by the keys of the messages. */
  readonly paths: Map<string, readonly string[]>
  updatedAt: number
  /** Those that the agent has named. */
  tools: string[]
  /** What has been chosen anew since the session was made. */
  chosen: Partial<Chosen>
}

export function newView(options: RecordOptions): View {
  const record = new SessionRecord(options)
  return {
    conversation: emptyConversation(),
    record,
    queue: [],
    compactions: new Compactions(record),
    rounds: newRounds(),
    stopper: null,
    answer: '',
    paths: new Map(),
    updatedAt: 0,
    tools: [],
    chosen: {},
  }
}

/** What a message says, with the names of its images as far as they are known here. */
export function wordsOf({ paths }: View, { content, key }: UserMessage): ReturnType<typeof saidIn> {
  return saidIn(content, key === null ? undefined : paths.get(key))
}

/** A message would have to wait: a turn runs, or others wait for theirs. */
export function isBusy({ conversation: { turn, waiting } }: View): boolean {
  return turn !== null || [...waiting.values()].some(({ steer }) => !steer)
}
