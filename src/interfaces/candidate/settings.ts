import type { ServiceContext } from '../../domain/context.ts'
import type { KeptDays } from '../../domain/submissions/kept.ts'

export type CandidateSettings = {
  secretKeys: readonly string[]
  /** Where a started assessment is taken; undefined: on these pages. */
  playerUrl: string | undefined
  /** How a webcam is watched: a picture now and then, or recorded. */
  webcam: 'stills' | 'video'
  keptDays: KeptDays
}

export type Options = { system: ServiceContext; settings: CandidateSettings }
