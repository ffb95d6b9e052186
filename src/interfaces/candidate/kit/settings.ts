import type { ServiceContext } from '../../../domain/context.ts'
import type { KeptDays } from '../../../domain/submissions/media/delete-expired-media.ts'
import type { PageLimiter } from '../../../http/limits/page-limiter.ts'
import type { BodyReader } from '../../../http/requests/body-reader.ts'
import type { Languages } from '../../../locales/languages.ts'

export type CandidateSettings = {
  languages: Languages
  secretKeys: readonly string[]
  /** URL of an external player; undefined if candidates take assessments on these pages. */
  playerUrl: string | undefined
  /** Webcam recording: a picture now and then, or a video. */
  webcam: 'stills' | 'video'
  keptDays: KeptDays
}

export type Options = {
  system: ServiceContext
  settings: CandidateSettings
  readBody: BodyReader
  /** Counts a saved text of an invite's link. @throws HttpError rate_limited. */
  countText: (inviteId: string) => void
  /** Counts a page load. Forms, saves, parts of recordings, and status requests don't count, so that no answer is refused. */
  countPage: PageLimiter
}

/** For the pages of open links. */
export type OpenOptions = Pick<Options, 'system' | 'settings' | 'countPage'>
