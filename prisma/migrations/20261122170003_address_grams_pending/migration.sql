-- New addresses wait in a list until there are some hundred of them: that makes them cost a third. Every search reads the list, so it is
-- kept shorter than PostgreSQL would.
ALTER INDEX "invites_address_grams_idx" SET (gin_pending_list_limit = 256);
