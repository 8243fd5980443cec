"""Results for people: a leaderboard in, tables and pages out. Nothing is computed here that decides a verdict."""
