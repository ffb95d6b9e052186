import type { KeyMode } from '../generated/prisma/client.ts'
import type { Ats } from './ports/ats-settings.ts'

/** Acting person or program. Permissions: authorization/permissions.ts. */
export type Actor =
  /**
   * A system with an API key. `createdById`: the member who created the key. `rights`: permissions beyond those of every key. `scopes`:
   * the only permitted scopes; empty: no restriction. `requestsPerMinute`: the key's own limit within the organization's.
   */
  | {
      kind: 'apiKey'
      id: string
      mode: KeyMode
      createdById: string | null
      rights?: readonly string[]
      scopes?: readonly string[]
      requestsPerMinute?: number | null
    }
  /** An ATS with the key of a connection, see domain/ats; `createdById` as above. */
  | { kind: 'ats'; id: string; ats: Ats; connectionId: string; mode: KeyMode; createdById: string | null }
  /** A member of the organization who is signed in to the portal. */
  | {
      kind: 'member'
      id: string
      userId: string
      roles: string[]
      /** See PORTAL_ROLES in authorization/permissions.ts. While the organization has no owner, every admin is one. */
      portalRoles?: readonly string[]
      /** True if the member may read transcripts of the recordings they may hear. */
      canViewTranscription?: boolean
      /** API key that simulates the member on test data, see domain/test-data. */
      simulatedBy?: string
      /** API key that grades in the member's name. Events and the audit log name it. See submissions/grading/grade-for-members. */
      viaKey?: string
    }
  /** A person who starts an assessment by an open link, see open-links/begin.ts. */
  | { kind: 'visitor' }
  /** The candidate of an invite. */
  | { kind: 'candidate'; inviteId: string }
  /** The operator, by the command line. */
  | { kind: 'operator' }
  /** Jobs and the scheduled sweep. */
  | { kind: 'system' }
