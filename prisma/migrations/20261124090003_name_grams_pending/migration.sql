-- Every search reads what waits to be indexed: as short a list as that of addresses.
ALTER INDEX "invites_name_grams_idx" SET (gin_pending_list_limit = 256);
