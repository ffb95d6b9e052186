import type { KeyScope } from '../authorization/permissions.ts'

/**
 * Permissions of a test key for each resource. Every operation has a scope, so the table covers all operations.
 *
 * - `shared`: reads data that live and test mode share.
 * - `live and test`: reads live and test rows.
 * - `test`: reads and changes test rows only.
 * - `nothing`: the operation needs a live key.
 */
export const TEST_KEY_ACCESS: Record<KeyScope, 'shared' | 'live and test' | 'test' | 'nothing'> = {
  'assessments:read': 'shared',
  'assessments:write': 'nothing',
  'members:read': 'shared',
  'members:write': 'nothing',
  'tags:read': 'live and test',
  'tags:write': 'test',
  'invites:read': 'test',
  'invites:write': 'test',
  'results:read': 'test',
  'results:write': 'test',
  'transcripts:read': 'test',
  'events:read': 'test',
  'webhooks:manage': 'test',
  'audit:read': 'test',
  'candidates:erase': 'nothing',
}
