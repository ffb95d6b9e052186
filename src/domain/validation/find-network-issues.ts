import type { Issue } from '../errors.ts'
import { MAX_NETWORKS } from '../limits.ts'
import { isEverywhere, readNetwork } from '../networks/ip-networks.ts'
import { checkSize, findIssues } from './checks.ts'

/**
 * Issues of a list of networks, with the line number: more than MAX_NETWORKS, `notNetwork`, or `everyNetwork` for a network of
 * all addresses, which an empty list means.
 */
export function findNetworkIssues(networks: readonly string[], field = 'networks'): Issue[] {
  const size = findIssues([[field, checkSize('maxItems', networks.length, MAX_NETWORKS)]])
  const wrong = networks.findIndex((text) => readNetwork(text) === null)
  if (wrong >= 0) return [...size, { field, rule: 'account', problem: 'notNetwork', limit: wrong + 1 }]
  const everywhere = networks.findIndex((text) => isEverywhere(readNetwork(text)!))
  return everywhere < 0 ? size : [...size, { field, rule: 'account', problem: 'everyNetwork', limit: everywhere + 1 }]
}
