import type { ServiceContext } from '../../../domain/context.ts'
import type { KeptDays } from '../../../domain/submissions/media/delete-expired-media.ts'
import type { PageLimiter } from '../../../http/limits/page-limiter.ts'
import type { BodyReader } from '../../../http/requests/body-reader.ts'
import type { Languages } from '../../../locales/languages.ts'

export type CandidateSettings = {
  languages: Languages
  secretKeys: readonly string[]
  /** Address of an external player; undefined if these pages are the player. */
  playerUrl: string | undefined
  /** Webcam recording: a picture now and then, or a video. */
  webcam: 'stills' | 'video'
  keptDays: KeptDays
}

export type Options = {
  system: ServiceContext
  settings: CandidateSettings
  readBody: BodyReader
  /** Counts a text that is saved by the link of an invite. @throws HttpError rate_limited. */
  countText: (inviteId: string) => void
  /** Forms, saves, parts of recordings, and status requests do not count: an answer is never refused for it. */
  countPage: PageLimiter
}

/** For the pages of open links. */
export type OpenOptions = Pick<Options, 'system' | 'settings' | 'countPage'>
